package dev.ratelimit.concurrency;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** Runs work on many threads that all start at the same moment. */
final class Together {

    private Together() {}

    /**
     * The results of all threads, in the order of their numbers. Fails with the first failure of any.
     *
     * @param work the work of the thread of that number
     */
    static <T> List<T> run(int threads, IntFunction<Callable<T>> work) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            CountDownLatch ready = new CountDownLatch(threads);
            CountDownLatch start = new CountDownLatch(1);
            List<Future<T>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Callable<T> one = work.apply(i);
                all.add(pool.submit(() -> {
                    ready.countDown();
                    start.await();
                    return one.call();
                }));
            }
            ready.await();
            start.countDown();
            List<T> results = new ArrayList<>();
            for (Future<T> one : all) {
                results.add(one.get(60, TimeUnit.SECONDS));
            }
            return results;
        } catch (ExecutionException e) {
            throw new AssertionError("a thread failed: " + e.getCause(), e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }
}
