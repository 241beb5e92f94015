package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.TestSeed;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A clock that is set back neither frees a subject that has used up its limit nor locks it out. */
class ClockSetBackTest {

    private static final Duration WINDOW = Duration.ofMinutes(1);

    /** The start of a minute; each scenario goes on from some moment within it. */
    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");

    private static final List<Duration> STEPS =
            List.of(Duration.ofMillis(500), Duration.ofSeconds(10), Duration.ofHours(1));

    private static final List<Limit> LIMITS = List.of(
            Limit.named("fixed-window").algorithm(new FixedWindow(5, WINDOW)).build(),
            Limit.named("sliding-window")
                    .algorithm(new SlidingWindow(5, WINDOW))
                    .build(),
            Limit.named("sliding-log").algorithm(new SlidingLog(5, WINDOW)).build(),
            Limit.named("token-bucket")
                    .algorithm(new TokenBucket(5, Rate.perMinute(5)))
                    .build(),
            Limit.named("leaky-bucket")
                    .algorithm(new LeakyBucket(5, Rate.perMinute(5)))
                    .build(),
            Limit.named("leaky-queue")
                    .algorithm(LeakyBucket.queue(Rate.perMinute(5), Duration.ofSeconds(50)))
                    .build(),
            Limit.named("min-interval")
                    .algorithm(new TokenBucket(1_000, Rate.perSecond(1_000)))
                    .minInterval(Duration.ofSeconds(20))
                    .build(),
            Limit.named("penalty")
                    .algorithm(new TokenBucket(5, Rate.perSecond(5)))
                    .penalty(1, Duration.ofSeconds(90))
                    .build());

    @TempDir
    Path folder;

    /** The test of each limit, from each moment, with each step back. */
    private record Scenario(StoreRateLimiter limiter, SettableClock clock, LimitRequest request, Duration step) {

        Decision decide() {
            return limiter.decide(request);
        }

        /** Asks until it is denied. */
        Decision useUp() {
            for (int i = 0; i < 100; i++) {
                Decision decision = decide();
                if (!decision.allowed()) {
                    return decision;
                }
            }
            throw new AssertionError("a hundred requests were admitted at one moment");
        }

        void assertExactWait(Decision denied) {
            assertThat(denied.outcome()).isIn(Outcome.THROTTLED, Outcome.BLOCKED);
            assertThat(denied.retryAfter()).isPositive();
            clock.move(denied.retryAfter().minus(Duration.ofNanos(1_000)));
            assertThat(decide().allowed()).as("a microsecond too early").isFalse();
            clock.move(Duration.ofNanos(1_000));
            assertThat(decide().allowed())
                    .as("after exactly the wait that was told")
                    .isTrue();
        }
    }

    private void inEachScenario(StoreKind kind, Consumer<Scenario> check) {
        RandomGenerator random = TestSeed.of("ClockSetBackTest on " + kind).history(0);
        SettableClock clock = new SettableClock();
        List<Throwable> failures = new ArrayList<>();
        int number = 0;
        try (LimitStore store = kind.open(folder, clock);
                StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of(LIMITS)).build()) {
            for (Limit limit : LIMITS) {
                for (Duration step : STEPS) {
                    for (long phase : new long[] {0, 6_000_000, random.nextLong(60_000_000), 59_999_999}) {
                        Instant moment = START.plusNanos(phase * 1_000);
                        clock.set(moment);
                        Subject subject = Subject.user("user" + number++);
                        try {
                            check.accept(new Scenario(limiter, clock, LimitRequest.of(subject, limit.name()), step));
                        } catch (AssertionError e) {
                            failures.add(new AssertionError(
                                    limit.name() + ", back by " + step + " from " + moment + ": " + e.getMessage(), e));
                        }
                    }
                }
            }
        }
        assertThat(failures).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void subjectThatHasUsedUpItsLimitIsDeniedStillAndAdmittedAfterTheWaitThatItIsTold(StoreKind kind) {
        inEachScenario(kind, scenario -> {
            scenario.useUp();

            scenario.clock.move(scenario.step.negated());

            Decision denied = scenario.decide();
            assertThat(denied.allowed()).as("right after the step").isFalse();
            // The longest that any of the limits makes wait, and the step itself where it is within tolerance.
            assertThat(denied.retryAfter())
                    .isLessThanOrEqualTo(WINDOW.multipliedBy(2).plusMillis(500));
            scenario.assertExactWait(denied);
        });
    }

    /** The previous window of a sliding window still counts, and so does what a bucket has not regained yet. */
    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void whatWasUsedInTheWindowBeforeIsNotFreedEither(StoreKind kind) {
        inEachScenario(kind, scenario -> {
            scenario.clock.move(WINDOW.negated());
            scenario.useUp();
            scenario.clock.move(WINDOW);
            scenario.decide();
            scenario.useUp();

            scenario.clock.move(scenario.step.negated());

            Decision denied = scenario.decide();
            assertThat(denied.allowed()).as("right after the step").isFalse();
            scenario.assertExactWait(denied);
        });
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void clockThatGoesBackAgainAndAgainFreesNothing(StoreKind kind) {
        inEachScenario(kind, scenario -> {
            scenario.useUp();
            for (int i = 0; i < 5; i++) {
                scenario.clock.move(scenario.step.negated());
                assertThat(scenario.decide().allowed()).as("step " + i).isFalse();
            }
            scenario.assertExactWait(scenario.decide());
        });
    }

    /** A request that was admitted before the step is not asked to wait for the clock to come back to it. */
    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void whatIsLeftOfALimitCanBeUsedAfterTheStep(StoreKind kind) {
        inEachScenario(kind, scenario -> {
            boolean spaced = scenario.request.items().get(0).limitName().equals("min-interval");
            scenario.decide();
            scenario.clock.move(scenario.step.negated());

            int admitted = 0;
            while (admitted < 100 && scenario.decide().allowed()) {
                admitted++;
            }

            assertThat(admitted).isEqualTo(spaced ? 0 : 4);
        });
    }
}
