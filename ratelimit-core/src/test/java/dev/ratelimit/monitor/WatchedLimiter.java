package dev.ratelimit.monitor;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/** A limiter in memory with a monitor, on a clock that a test sets. */
final class WatchedLimiter implements AutoCloseable {

    static final int MOST = 5;

    /** Five requests in a day. */
    static final Limit API = Limit.named("api")
            .algorithm(Algorithms.atMost(MOST, Window.of(Duration.ofDays(1))))
            .build();

    /** One request in a day, and five minutes of penalty after two more. */
    static final Limit LOGIN = Limit.named("login")
            .algorithm(Algorithms.atMost(1, Window.of(Duration.ofDays(1))))
            .penalty(2, Duration.ofMinutes(5))
            .build();

    private final SettableClock clock = new SettableClock();
    final Monitor monitor;
    final StoreRateLimiter limiter;

    WatchedLimiter() {
        this(builder -> builder);
    }

    WatchedLimiter(UnaryOperator<Monitor.Builder> settings) {
        monitor = settings.apply(Monitor.builder().nanoTime(() -> Micros.of(clock.instant()) * 1_000))
                .build();
        limiter = StoreRateLimiter.builder(new MemoryLimitStore(clock), Limits.of(API, LOGIN))
                .listeners(List.of(monitor))
                .build();
    }

    /** Makes so many requests that are denied, after those that are allowed. */
    void exceed(String user, int times) {
        for (int i = 0; i < MOST + times; i++) {
            limiter.decide(LimitRequest.of(Subject.user(user), "api").rule("reads"));
        }
    }

    void move(Duration by) {
        clock.move(by);
    }

    void tick() {
        monitor.tick();
    }

    @Override
    public void close() {
        limiter.close();
    }
}
