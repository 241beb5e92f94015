package dev.ratelimit.test.store;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The part of the contract about violations and penalties. */
abstract class PenaltyContract extends ReservationContract {

    @Test
    void repeatedViolationsAreBlockedForLongerAndLonger() {
        List<Duration> penalties = new ArrayList<>();
        for (int violation = 1; violation <= 21; violation++) {
            Duration penalty = violate(api());
            penalties.add(penalty);
            clock.advance(penalty.minus(MICRO));
            assertThat(limiter.decide(ALICE, api()).outcome()).isEqualTo(Outcome.BLOCKED);
            clock.advance(MICRO.plus(penalty.compareTo(ofHours(24)) == 0 ? ZERO : ofSeconds(20)));
        }

        assertThat(penalties.subList(0, 2)).containsOnly(ofMinutes(1));
        assertThat(penalties.subList(2, 4)).containsOnly(ofMinutes(5));
        assertThat(penalties.subList(4, 9)).containsOnly(ofMinutes(15));
        assertThat(penalties.subList(9, 19)).containsOnly(ofHours(1));
        // The twentieth is blocked for a day, and forgotten when the day is over.
        assertThat(penalties.subList(19, 21)).containsExactly(ofHours(24), ofMinutes(1));
    }

    @Test
    void requestsUnderAPenaltyNeitherCountNorExtend() {
        violate(api());
        Instant end = clock.instant().plus(ofMinutes(1));
        for (int i = 0; i < 30; i++) {
            clock.advance(ofSeconds(1));
            Decision blocked = limiter.decide(ALICE, api());
            assertThat(blocked.outcome()).isEqualTo(Outcome.BLOCKED);
            assertThat(blocked.penaltyUntil()).isEqualTo(end);
            assertThat(blocked.retryAfter()).isEqualTo(Duration.between(clock.instant(), end));
            assertThat(blocked.remaining()).isZero();
        }
        clock.set(end);
        assertThat(violate(api())).isEqualTo(ofMinutes(1)); // the second violation, not the thirty-second
    }

    @Test
    void violationsBelowTheFirstStepAreCounted() {
        Limit limit = Limit.named("late")
                .algorithm(new FixedWindow(1, ofSeconds(10)))
                .penalty(3, ofMinutes(5))
                .build();
        assertThat(violate(limit)).isEqualTo(ZERO);
        clock.advance(ofSeconds(10));
        assertThat(violate(limit)).isEqualTo(ZERO);
        clock.advance(ofSeconds(10));
        assertThat(violate(limit)).isEqualTo(ofMinutes(5));
    }

    @Test
    void aDenialTellsTheNumberOfViolations() {
        Limit limit = Limit.named("told")
                .algorithm(new FixedWindow(1, ofHours(1)))
                .penalty(3, ofMinutes(5))
                .build();
        assertThat(violationsOf(limit)).as("allowed").isZero();
        for (long violation = 1; violation <= 3; violation++) {
            assertThat(violationsOf(limit)).isEqualTo(violation);
            assertThat(seenViolationsOf(limit)).as("a look counts none").isEqualTo(violation);
        }
        assertThat(violationsOf(limit)).as("during the penalty").isEqualTo(3);
        clock.advance(ofMinutes(5));
        assertThat(violationsOf(limit)).isEqualTo(4);
        limiter.reset(LimitRequest.of(ALICE, limit));
        assertThat(violationsOf(limit)).as("allowed").isZero();
        assertThat(violationsOf(limit)).isEqualTo(1);
    }

    @Test
    void aLimitWithoutPenaltiesCountsNoViolations() {
        Limit limit =
                Limit.named("lenient").algorithm(new FixedWindow(1, ofHours(1))).build();
        violationsOf(limit);

        assertThat(violationsOf(limit)).isZero();
    }

    private long violationsOf(Limit limit) {
        return limiter.decide(ALICE, limit).limits().get(0).violations();
    }

    private long seenViolationsOf(Limit limit) {
        return limiter.peek(LimitRequest.of(ALICE, limit)).limits().get(0).violations();
    }

    @Test
    void violationsAreForgottenAfterTheLastOne() {
        for (int i = 0; i < 4; i++) {
            clock.advance(violate(api()).plusSeconds(20));
        }
        clock.advance(ofHours(23));
        assertThat(violate(api())).isEqualTo(ofMinutes(15)); // the fifth
        clock.advance(ofHours(24));
        assertThat(violate(api())).isEqualTo(ofMinutes(1)); // the first
    }

    @Test
    void violationOfOneLimitIsNoViolationOfTheOther() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(1, ofSeconds(10)))
                .penalty(1, ofMinutes(1))
                .build();
        Limit wide = Limit.named("wide")
                .algorithm(new FixedWindow(9, ofSeconds(10)))
                .penalty(1, ofMinutes(1))
                .build();
        LimitRequest both = LimitRequest.of(ALICE, wide).and(ALICE, strict);
        limiter.decide(both);

        assertThat(limiter.decide(both).limits())
                .extracting(one -> one.penaltyUntil() != null)
                .containsExactly(false, true);
        assertThat(limiter.decide(ALICE, wide).allowed()).isTrue();
    }

    @Test
    void waitingForTheEndOfAPenaltyIsEnough() {
        Limit limit = Limit.named("short-penalty")
                .algorithm(new FixedWindow(1, ofHours(1)))
                .penalty(1, ofMinutes(1))
                .build();
        limiter.decide(ALICE, limit);

        Decision violation = limiter.decide(ALICE, limit);

        // The penalty ends before the window does; the client is told the later of the two.
        assertThat(violation.retryAfter()).isEqualTo(ofHours(1));
        clock.advance(ofMinutes(30));
        assertThat(limiter.decide(ALICE, limit).outcome()).isEqualTo(Outcome.THROTTLED);
    }

    /** A store that counts together with another one has to count what only the other one has seen. */
    @Test
    void violationIsCountedWithoutAChargeEvenWhereThereIsRoom() {
        Limit limit = Limit.named("elsewhere")
                .algorithm(new FixedWindow(5, ofSeconds(10)))
                .penalty(2, ofMinutes(5))
                .build();
        Operation violation = new Operation(Operation.Kind.VIOLATE, List.of(new Operation.Demand(ALICE, limit, 1)));

        assertThat(store.decide(violation).first().penaltyUntil()).isZero();
        assertThat(limiter.decide(ALICE, limit).remaining()).isEqualTo(4);
        assertThat(store.decide(violation).first().penaltyUntil()).isPositive();
        assertThat(limiter.decide(ALICE, limit).outcome()).isEqualTo(Outcome.BLOCKED);
        store.decide(violation); // under a penalty, nothing is counted
        clock.advance(ofMinutes(5));
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
    }
}
