package dev.ratelimit.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/** Threads that ask again and again, until they have been refused a few times in a row. */
final class Load implements AutoCloseable {

    /** The number of refusals in a row after which a thread ends. */
    private static final int REFUSALS = 10;

    private static final Duration LONGEST = Duration.ofSeconds(60);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Future<?>> running = new ArrayList<>();
    private volatile boolean stopped;

    /**
     * @param ask asks once; whether it was admitted
     */
    static Load start(List<Instance> instances, int threadsEach, Predicate<Instance> ask) {
        Load load = new Load();
        for (Instance instance : instances) {
            for (int i = 0; i < threadsEach; i++) {
                load.running.add(load.threads.submit(() -> load.run(instance, ask)));
            }
        }
        return load;
    }

    private void run(Instance instance, Predicate<Instance> ask) {
        int refusals = 0;
        while (refusals < REFUSALS && !stopped) {
            refusals = ask.test(instance) ? 0 : refusals + 1;
        }
    }

    boolean isDone() {
        return running.stream().allMatch(Future::isDone);
    }

    /** Lets each thread end after its current request. */
    void stop() throws Exception {
        stopped = true;
        await();
    }

    /** Waits until all threads have ended, and fails if one has failed. */
    void await() throws ExecutionException, InterruptedException, TimeoutException {
        for (Future<?> one : running) {
            one.get(LONGEST.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Override
    public void close() {
        stopped = true;
        threads.shutdownNow();
    }
}
