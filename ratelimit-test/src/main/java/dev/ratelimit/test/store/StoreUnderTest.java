package dev.ratelimit.test.store;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.test.RateLimitClock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A store that is opened for each test, and the steps that the parts of its contract share. */
abstract class StoreUnderTest {

    protected static final Subject ALICE = Subject.user("alice");
    protected static final Subject BOB = Subject.user("bob");

    static final Duration MICRO = ofNanos(1_000);

    /** Stands at the start of an hour, so that windows of up to an hour begin with it. */
    protected final RateLimitClock clock = new RateLimitClock(Instant.parse("2026-03-02T10:00:00Z"));

    protected LimitStore store;
    protected RateLimiter limiter;

    /** A new store without any state, on that clock. */
    protected abstract LimitStore open(InstantSource clock) throws Exception;

    /** Whether the store holds state of the subject. */
    protected abstract boolean isStored(String subject) throws Exception;

    /** Product and version that the store's own connections report; the name of its class if it has none. */
    protected String databaseInUse() throws Exception {
        return store.getClass().getSimpleName();
    }

    /** A pattern of what that should be. */
    protected String expectedDatabase() {
        return ".+";
    }

    @BeforeEach
    void openStore() throws Exception {
        store = open(clock);
        limiter = StoreRateLimiter.builder(store, Limits.of()).build();
    }

    @AfterEach
    void closeStore() {
        store.close();
    }

    static LimitDecision tightest(Decision decision) {
        return Objects.requireNonNull(decision.tightest());
    }

    static Stream<Limit> limits() {
        return Stream.of(
                Limit.named("fixed")
                        .algorithm(new FixedWindow(7, ofSeconds(13)))
                        .build(),
                Limit.named("calendar")
                        .algorithm(new FixedWindow(7, Window.CalendarUnit.HOUR, ZoneId.of("Asia/Kathmandu")))
                        .build(),
                Limit.named("sliding")
                        .algorithm(new SlidingWindow(7, ofSeconds(13)))
                        .build(),
                Limit.named("log").algorithm(new SlidingLog(7, ofSeconds(13))).build(),
                Limit.named("token")
                        .algorithm(new TokenBucket(7, Rate.of(3, ofSeconds(7))))
                        .build(),
                Limit.named("leaky")
                        .algorithm(new LeakyBucket(7, Rate.of(3, ofSeconds(7))))
                        .build(),
                Limit.named("queue")
                        .algorithm(LeakyBucket.queue(Rate.of(3, ofSeconds(7)), ofSeconds(14)))
                        .build(),
                Limit.named("spaced")
                        .algorithm(new SlidingLog(7, ofSeconds(13)))
                        .minInterval(ofMillis(1_500))
                        .build());
    }

    static Limit api() {
        return Limit.named("api")
                .algorithm(new SlidingWindow(1, ofSeconds(10)))
                .penalty(1, ofMinutes(1))
                .penalty(3, ofMinutes(5))
                .penalty(5, ofMinutes(15))
                .penalty(10, ofHours(1))
                .penalty(20, ofHours(24))
                .forgetAfter(ofHours(24))
                .build();
    }

    /** Uses the limit up, violates it once, and says how long the penalty is. */
    Duration violate(Limit limit) {
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        Decision violation = limiter.decide(ALICE, limit);
        assertThat(violation.outcome()).isEqualTo(Outcome.THROTTLED);
        return violation.penaltyUntil() == null ? ZERO : Duration.between(clock.instant(), violation.penaltyUntil());
    }

    /** Decides as often, and says what remained each time; every request must pass. */
    List<Long> remainders(Limit limit, int requests) {
        List<Long> remaining = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            Decision decision = limiter.decide(ALICE, limit);
            assertThat(decision.allowed()).isTrue();
            remaining.add(decision.remaining());
        }
        return remaining;
    }

    /** Decides until a request of that cost is denied. */
    void useUp(Limit limit, long cost) {
        LimitRequest request = LimitRequest.of(ALICE, limit).cost(cost);
        for (int i = 0; limiter.decide(request).allowed(); i++) {
            assertThat(i).isLessThan(100);
        }
    }
}
