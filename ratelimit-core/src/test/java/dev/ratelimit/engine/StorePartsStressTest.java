package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.testing.TestSeed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many callers on the four parts of a store. One part fails at times; some requests need two parts. */
class StorePartsStressTest {

    private static final int PARTS = 4;
    private static final int FRAGILE = 3;
    private static final int CALLERS = 40;
    private static final int REQUESTS_EACH = 150;
    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new FixedWindow(1_000_000, Duration.ofHours(1)))
            .build();

    private static final class UnsteadyStore extends PartedStore {

        private final RandomGenerator random;

        private UnsteadyStore(RandomGenerator random) {
            this.random = random;
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            int luck = next(100);
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(luck == 0 ? 20_000 : 10L * luck));
            if (luck < 10) {
                down(FRAGILE, luck % 2 == 0);
            }
            return super.decide(group);
        }

        private synchronized int next(int bound) {
            return random.nextInt(bound);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    @Timeout(60)
    void onlyRequestsThatNeedTheFailingPartFail(int groups) throws Exception {
        TestSeed seed = TestSeed.of("StorePartsStressTest, " + groups + " groups");
        UnsteadyStore store = new UnsteadyStore(seed.history(CALLERS));
        StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(LIMIT))
                .grouping(Grouping.DEFAULT.withGroupsInFlight(groups).withDeadline(Duration.ofSeconds(30)))
                .build();
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try {
            List<Future<Integer>> running = new ArrayList<>();
            for (int caller = 0; caller < CALLERS; caller++) {
                RandomGenerator random = seed.history(caller);
                running.add(callers.submit(() -> ask(limiter, random)));
            }
            int failed = 0;
            for (Future<Integer> one : running) {
                failed += one.get(50, TimeUnit.SECONDS);
            }

            assertThat(failed).as("requests of the part that fails at times").isPositive();
            assertThat(store.mixedGroups()).isZero();
            EngineStatus.Queue queue = limiter.status().queue();
            assertThat(queue.mostGroups()).isEqualTo((PARTS + 1) * groups);
            await().untilAsserted(() -> {
                assertThat(limiter.status().queue().waiting()).isZero();
                assertThat(limiter.status().queue().groups()).isZero();
            });
        } finally {
            callers.shutdownNow();
            limiter.close();
        }
    }

    /** How many of the requests have failed, all of which needed the fragile part. */
    private static int ask(StoreRateLimiter limiter, RandomGenerator random) {
        int failed = 0;
        for (int i = 0; i < REQUESTS_EACH; i++) {
            Set<Integer> parts = new HashSet<>();
            parts.add(random.nextInt(PARTS));
            if (random.nextInt(4) == 0) {
                parts.add(random.nextInt(PARTS));
            }
            LimitRequest request = null;
            for (int part : parts) {
                Subject subject = Subject.user("user" + random.nextInt(20) + "-" + part);
                request = request == null ? LimitRequest.of(subject, "api") : request.and(subject, "api");
            }
            Decision decision = limiter.decide(request.onFailure(FailurePolicy.CLOSED));
            if (decision.outcome() != Outcome.ALLOWED) {
                assertThat(parts)
                        .as("parts of a request with " + decision.outcome())
                        .contains(FRAGILE);
                failed++;
            }
        }
        return failed;
    }
}
