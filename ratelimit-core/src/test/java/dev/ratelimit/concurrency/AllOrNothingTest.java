package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class AllOrNothingTest {

    private static final int THREADS = 16;
    private static final int ATTEMPTS = 60;
    private static final int USERS = 4;
    private static final int SMALL = 50;
    private static final Duration AGES = Duration.ofDays(3650);

    @TempDir
    Path folder;

    /** Each user has a small limit of its own; all of them share a big one, and half of the requests name it first. */
    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void requestsThatOneLimitDeniesAreNotCountedByTheOther(StoreKind kind) throws Exception {
        Limit big =
                Limit.named("big").algorithm(new FixedWindow(1_000_000, AGES)).build();
        Limit small =
                Limit.named("small").algorithm(new SlidingLog(SMALL, AGES)).build();
        Subject everybody = Subject.of("service", "everybody");
        try (LimitStore store = kind.open(folder);
                StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(big, small))
                        .grouping(Grouping.DEFAULT.withGroupsInFlight(4).withDeadline(Duration.ofSeconds(30)))
                        .build()) {
            List<Integer> admitted = Together.run(THREADS, number -> () -> {
                Subject user = Subject.user("user" + number % USERS);
                LimitRequest request = (number / USERS % 2 == 0
                                ? LimitRequest.of(user, small).and(everybody, big)
                                : LimitRequest.of(everybody, big).and(user, small))
                        .onFailure(FailurePolicy.CLOSED);
                int mine = 0;
                for (int i = 0; i < ATTEMPTS; i++) {
                    Decision decision = limiter.decide(request);
                    assertThat(decision.outcome().isDecided()).isTrue();
                    mine += decision.allowed() ? 1 : 0;
                }
                return mine;
            });
            int all = admitted.stream().mapToInt(Integer::intValue).sum();

            assertThat(all).isEqualTo(USERS * SMALL);
            assertThat(big.capacity()
                            - limiter.peek(everybody, "big").limits().get(0).remaining())
                    .as("counted by the big limit")
                    .isEqualTo(all);
        }
    }
}
