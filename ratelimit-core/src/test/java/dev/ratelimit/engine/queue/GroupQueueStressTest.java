package dev.ratelimit.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.local.LocalDecisions;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.testing.TestSeed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Many callers on few subjects, some over two limits, some that leave early, on a store that is slow and fails at times. */
class GroupQueueStressTest {

    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new TokenBucket(10, Rate.perSecond(10)))
            .build();
    private static final int CALLERS = 60;
    private static final int REQUESTS_EACH = 150;

    /** Takes its time with each group, and notices a key that is in two at a time, and more groups than are allowed. */
    private static final class Watch {

        private final RandomGenerator random;
        private final Set<StateKey> keys = ConcurrentHashMap.newKeySet();
        private final AtomicInteger groups = new AtomicInteger();
        private final AtomicInteger mostGroups = new AtomicInteger();
        private final AtomicInteger largestGroup = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();
        private volatile Thread lastCaller = Thread.currentThread();

        private Watch(RandomGenerator random) {
            this.random = random;
        }

        void look(List<Operation> group) {
            lastCaller = Thread.currentThread();
            mostGroups.accumulateAndGet(groups.incrementAndGet(), Math::max);
            largestGroup.accumulateAndGet(group.size(), Math::max);
            Set<StateKey> own = new HashSet<>();
            group.forEach(operation -> operation.demands().forEach(demand -> own.add(demand.key())));
            own.forEach(key -> {
                if (!keys.add(key)) {
                    overlaps.incrementAndGet();
                }
            });
            int luck = next(100);
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(luck == 0 ? 20_000 : 10L * luck));
            keys.removeAll(own);
            groups.decrementAndGet();
            if (luck == 1) {
                throw new IllegalStateException("bad luck");
            }
        }

        private synchronized int next(int bound) {
            return random.nextInt(bound);
        }
    }

    private static Operation operation(RandomGenerator random) {
        List<Demand> demands = new ArrayList<>();
        int first = random.nextInt(3) == 0 ? 0 : random.nextInt(200);
        demands.add(new Demand(Subject.user("user" + first), LIMIT, 1));
        if (random.nextInt(4) == 0) {
            demands.add(new Demand(Subject.user("other" + random.nextInt(20)), LIMIT, 1));
        }
        return new Operation(Kind.DECIDE, demands);
    }

    @ParameterizedTest
    @CsvSource({"1, 256", "2, 256", "2, 3", "4, 40"})
    @Timeout(60)
    void everybodyIsAnsweredAndNothingIsLeftBehind(int groups, int groupSize) throws Exception {
        TestSeed seed = TestSeed.of("GroupQueueStressTest, " + groups + " groups of " + groupSize);
        Watch watch = new Watch(seed.history(CALLERS));
        QueueSettings settings = new QueueSettings(groups, groupSize, 10_000, Duration.ofSeconds(1));
        ExecutorService workers = Executors.newCachedThreadPool();
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        Breaker breaker = new Breaker(Duration.ofSeconds(1), Duration.ofSeconds(1));
        GroupQueue queue = new GroupQueues(
                        new AnsweringStore(watch::look), settings, workers, new LocalDecisions(1, null))
                .queue(new BreakerWatch(breaker));
        try {
            List<Future<Integer>> answered = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                RandomGenerator random = seed.history(caller);
                answered.add(callers.submit(() -> ask(queue, random)));
            }
            int answers = 0;
            for (Future<Integer> one : answered) {
                answers += one.get(50, TimeUnit.SECONDS);
            }

            assertThat(answers).isPositive();
            assertThat(watch.overlaps).hasValue(0);
            assertThat(watch.mostGroups.get()).isLessThanOrEqualTo(groups);
            assertThat(watch.largestGroup.get()).isLessThanOrEqualTo(groupSize);
            // Nothing is at the store, and nobody waits: who comes now leads itself, as soon as the last worker has
            // gone.
            await().until(() -> {
                ask(queue, seed.history(CALLERS + 1));
                return watch.lastCaller.getName().startsWith("awaitility");
            });
        } finally {
            callers.shutdownNow();
            workers.shutdownNow();
        }
    }

    /** How many of the requests were answered; the others were late, or met a failure. */
    private static int ask(GroupQueue queue, RandomGenerator random) {
        int answers = 0;
        for (int i = 0; i < REQUESTS_EACH; i++) {
            boolean patient = random.nextInt(5) > 0;
            long patience = patient ? TimeUnit.SECONDS.toNanos(20) : random.nextInt(2_000_000);
            try {
                if (queue.submit(operation(random), System.nanoTime() + patience)
                        .allowed()) {
                    answers++;
                }
            } catch (UndecidedException e) {
                // A caller that waits for long enough is not late: at most the store has failed.
                if (patient) {
                    assertThat(e).hasRootCauseMessage("bad luck");
                }
            }
        }
        return answers;
    }
}
