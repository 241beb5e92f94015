package dev.ratelimit.test.store;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The part of the contract about the algorithms: what each admits, and when. */
abstract class AlgorithmContract extends StoreUnderTest {

    @Test
    void fixedWindowAdmitsItsMaximumInEachWindow() {
        Limit limit =
                Limit.named("login").algorithm(new FixedWindow(5, ofMinutes(1))).build();
        clock.advance(ofSeconds(20));

        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.allowed()).isFalse();
        assertThat(denied.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(denied.retryAfter()).isEqualTo(ofSeconds(40));
        assertThat(tightest(denied).resetAt()).isEqualTo(clock.instant().plusSeconds(40));
        assertThat(limiter.decide(BOB, limit).allowed()).isTrue();
        clock.advance(ofSeconds(40));
        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
    }

    @Test
    void calendarWindowEndsWithTheDayOfItsZone() {
        Limit limit = Limit.named("daily")
                .algorithm(new FixedWindow(2, Window.CalendarUnit.DAY, ZoneId.of("Europe/Berlin")))
                .build();
        clock.set(Instant.parse("2026-03-29T12:00:00Z")); // the day of the clock change: 23 hours

        remainders(limit, 2);
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.allowed()).isFalse();
        assertThat(clock.instant().plus(denied.retryAfter())).isEqualTo("2026-03-29T22:00:00Z");
        clock.set(Instant.parse("2026-03-29T22:00:00Z"));
        assertThat(limiter.decide(ALICE, limit).remaining()).isEqualTo(1);
    }

    @Test
    void calendarWindowsOfHourWeekAndMonthEndWhereTheyShould() {
        clock.set(Instant.parse("2026-11-18T10:20:00Z"));
        assertThat(endOfWindow(Window.CalendarUnit.HOUR, "Asia/Kolkata")).isEqualTo("2026-11-18T10:30:00Z");
        assertThat(endOfWindow(Window.CalendarUnit.WEEK, "UTC")).isEqualTo("2026-11-23T00:00:00Z");
        assertThat(endOfWindow(Window.CalendarUnit.MONTH, "America/New_York")).isEqualTo("2026-12-01T05:00:00Z");
    }

    private Instant endOfWindow(Window.CalendarUnit unit, String zone) {
        Limit limit = Limit.named("per-" + unit.keyword())
                .algorithm(new FixedWindow(1, unit, ZoneId.of(zone)))
                .build();
        return tightest(limiter.decide(ALICE, limit)).resetAt();
    }

    @Test
    void slidingWindowWeightsThePreviousWindowByWhatIsLeftOfIt() {
        Limit limit = Limit.named("api")
                .algorithm(new SlidingWindow(10, ofMinutes(1)))
                .build();
        remainders(limit, 10);

        clock.advance(ofMinutes(1));
        assertThat(limiter.decide(ALICE, limit).allowed()).isFalse();
        clock.advance(ofSeconds(30)); // five of the ten still count
        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(6));
    }

    @Test
    void slidingLogAdmitsItsMaximumInAnySpanOfTheWindow() {
        Limit limit =
                Limit.named("log").algorithm(new SlidingLog(3, ofSeconds(10))).build();
        for (int i = 0; i < 3; i++) {
            assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
            clock.advance(ofSeconds(2));
        }

        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(4));
        clock.advance(ofSeconds(4));
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(2));
    }

    @Test
    void tokenBucketStartsFullAndRefillsContinuously() {
        Limit limit = Limit.named("upload")
                .algorithm(new TokenBucket(5, Rate.parse("60/m")))
                .build();

        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
        clock.advance(ofMillis(250));
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.retryAfter()).isEqualTo(ofMillis(750));
        assertThat(denied.retryAfterSeconds()).isEqualTo(1);
        assertThat(tightest(denied).resetAt()).isEqualTo(clock.instant().plusMillis(4_750));
        clock.advance(ofHours(1));
        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
    }

    @Test
    void leakyBucketAsAMeterDeniesWhatDoesNotFit() {
        Limit limit = Limit.named("meter")
                .algorithm(new LeakyBucket(2, Rate.perSecond(1)))
                .build();

        assertThat(remainders(limit, 2)).containsExactly(1L, 0L);
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.allowed()).isFalse();
        assertThat(denied.delay()).isEqualTo(ZERO);
        assertThat(denied.retryAfter()).isEqualTo(ofSeconds(1));
    }

    @Test
    void leakyBucketAsAQueueTellsHowLongToWaitAndNeverLongerThanMaxWait() {
        Limit limit = Limit.named("queue")
                .algorithm(LeakyBucket.queue(Rate.perSecond(2), ofSeconds(1)))
                .build();
        List<Duration> delays = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Decision decision = limiter.decide(ALICE, limit);
            assertThat(decision.allowed()).isTrue();
            delays.add(decision.delay());
        }

        assertThat(delays).containsExactly(ZERO, ofMillis(500), ofSeconds(1));
        Decision denied = limiter.decide(ALICE, limit);
        assertThat(denied.allowed()).isFalse();
        assertThat(denied.delay()).isEqualTo(ZERO);
        assertThat(denied.retryAfter()).isEqualTo(ofMillis(500));
    }

    @Test
    void minIntervalKeepsAllowedRequestsApart() {
        Limit limit = Limit.named("compose-lock")
                .algorithm(new TokenBucket(2, Rate.perMinute(12)))
                .minInterval(ofSeconds(5))
                .build();

        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        clock.advance(ofSeconds(2));
        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(3));
        clock.advance(ofSeconds(3));
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void deniedRequestConsumesNothing(Limit limit) {
        useUp(limit, 3);
        Decision before = limiter.peek(LimitRequest.of(ALICE, limit).cost(3));

        for (int i = 0; i < 5; i++) {
            assertThat(limiter.decide(LimitRequest.of(ALICE, limit).cost(3)).allowed())
                    .isFalse();
        }

        assertThat(limiter.peek(LimitRequest.of(ALICE, limit).cost(3))).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void clientThatWaitsExactlyRetryAfterIsAdmitted(Limit limit) {
        for (int cost = 1; cost <= 3; cost++) {
            useUp(limit, cost);
            LimitRequest request = LimitRequest.of(ALICE, limit).cost(cost);
            Duration wait = limiter.decide(request).retryAfter();

            clock.advance(wait.minus(MICRO));
            assertThat(limiter.decide(request).retryAfter()).isEqualTo(MICRO);
            clock.advance(MICRO);
            assertThat(limiter.decide(request).allowed()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    void limitIsWholeAgainWhenItsResetHasCome(Limit limit) {
        useUp(limit, 1);
        Instant reset = tightest(limiter.peek(LimitRequest.of(ALICE, limit))).resetAt();

        clock.set(reset);

        Decision whole = limiter.peek(LimitRequest.of(ALICE, limit).cost(limit.capacity()));
        assertThat(whole.allowed()).isTrue();
        assertThat(whole.remaining()).isEqualTo(limit.capacity());
        assertThat(tightest(whole).resetAt()).isEqualTo(reset);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void clockThatIsSetBackNeitherFreesNorLocksOut(Limit limit) {
        for (Duration back : List.of(ofMillis(300), ofSeconds(20), ofHours(30))) {
            useUp(limit, 1);
            clock.set(clock.instant().minus(back));

            Decision denied = limiter.decide(ALICE, limit);
            assertThat(denied.allowed()).isFalse();
            // Nobody waits for longer than for two windows, however far the clock went back.
            assertThat(denied.retryAfter()).isLessThanOrEqualTo(ofHours(1));
            clock.advance(denied.retryAfter());
            assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        }
    }
}
