package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** In real time, on the real clocks of the stores. */
@Timeout(60)
class HotSubjectTest {

    private static final Logger log = LoggerFactory.getLogger(HotSubjectTest.class);

    private static final int CALLERS = 64;
    private static final int BURST = 10;
    private static final int RATE = 100;
    private static final Duration TIME = Duration.ofSeconds(4);

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void oneHotSubjectIsAdmittedAtItsRateAndNoFaster(StoreKind kind) throws Exception {
        Limit limit = Limit.named("hot")
                .algorithm(new TokenBucket(BURST, Rate.perSecond(RATE)))
                .build();
        Subject subject = Subject.user("hot");
        AtomicInteger admitted = new AtomicInteger();
        AtomicInteger denied = new AtomicInteger();
        AtomicInteger undecided = new AtomicInteger();
        try (LimitStore store = kind.open(folder);
                StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(limit))
                        .grouping(Grouping.DEFAULT.withDeadline(Duration.ofSeconds(30)))
                        .build()) {
            limiter.decide(Subject.user("somebody-else"), limit); // connected before the start

            long start = System.nanoTime();
            Together.run(CALLERS, number -> () -> {
                while (System.nanoTime() - start < TIME.toNanos()) {
                    Decision decision = limiter.decide(subject, limit);
                    if (!decision.outcome().isDecided()) {
                        undecided.incrementAndGet();
                    } else if (decision.allowed()) {
                        admitted.incrementAndGet();
                    } else {
                        denied.incrementAndGet();
                        Thread.sleep(1); // bounds the load, not the contention
                    }
                }
                return null;
            });
            double most = BURST + RATE * ((System.nanoTime() - start) / 1e9);

            log.info("{}: admitted {} of at most {}, denied {}", kind, admitted, most, denied);
            assertThat(undecided).hasValue(0);
            assertThat((double) admitted.get()).isBetween(0.8 * most, most);
            assertThat(denied).as("the subject was hot").hasValueGreaterThan(admitted.get());
        }
    }
}
