package dev.ratelimit.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A clock that was set back neither frees nor locks out. */
class AfterClockSetBackTest {

    private static final Subject ALICE = Subject.user("alice");

    private final SettableClock clock = new SettableClock();
    private final MemoryLimitStore store = new MemoryLimitStore(clock);

    @Test
    void setBackClockKeepsWhatWasUsed() {
        Limit limit = Limit.named("one")
                .algorithm(new SlidingLog(1, Duration.ofMinutes(1)))
                .build();
        assertThat(decide(limit).outcome()).isEqualTo(Outcome.ALLOWED);
        clock.move(Duration.ofHours(-1));
        assertThat(decide(limit).outcome()).isEqualTo(Outcome.THROTTLED);
    }

    @Test
    void requestDeniedAfterTheClockWasSetBackIsAllowedWhenItWasTold() {
        Limit limit = Limit.named("one")
                .algorithm(new TokenBucket(1, Rate.perMinute(1)))
                .build();
        decide(limit);
        clock.move(Duration.ofHours(-1));
        assertThat(decide(limit).outcome()).isEqualTo(Outcome.THROTTLED);
        clock.move(Duration.ofMinutes(1));
        assertThat(decide(limit).outcome()).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void deniedRequestsDoNotLengthenTheWaitAfterTheClockWasSetBack() {
        Limit limit = Limit.named("one")
                .algorithm(new SlidingLog(1, Duration.ofMinutes(1)))
                .build();
        decide(limit);
        clock.move(Duration.ofHours(-1));
        for (int second = 0; second < 60; second++) {
            assertThat(decide(limit).outcome()).isEqualTo(Outcome.THROTTLED);
            clock.move(Duration.ofSeconds(1));
        }
        assertThat(decide(limit).outcome()).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void penaltyEndsAfterItsTimeThoughTheClockWasSetBack() {
        Limit limit = Limit.named("one")
                .algorithm(new TokenBucket(1, Rate.perSecond(1)))
                .penalty(1, Duration.ofMinutes(5))
                .build();
        decide(limit);
        assertThat(decide(limit).penaltyUntil()).isPositive();
        clock.move(Duration.ofHours(-1));
        assertThat(decide(limit).outcome()).isEqualTo(Outcome.BLOCKED);
        clock.move(Duration.ofMinutes(5));
        assertThat(decide(limit).outcome()).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void settlingAnEarlierChargePutsNothingIntoTheFuture() {
        Limit limit = Limit.named("ten")
                .algorithm(new SlidingLog(10, Duration.ofMinutes(1)))
                .build();
        Charge charge = decide(limit).charge();
        clock.move(Duration.ofHours(-1));
        Verdict settled = settle(limit, charge, 5);
        assertThat(settled.remaining()).isEqualTo(5);
        clock.move(Duration.ofMinutes(1));
        assertThat(decide(limit).remaining()).isEqualTo(9);
    }

    private Verdict decide(Limit limit) {
        return only(new Operation(Kind.DECIDE, List.of(new Demand(ALICE, limit, 1))));
    }

    private Verdict settle(Limit limit, Charge charge, long cost) {
        return only(new Operation(Kind.SETTLE, List.of(new Demand(ALICE, limit, cost, charge))));
    }

    private Verdict only(Operation operation) {
        return store.decide(List.of(operation)).get(0).verdicts().get(0);
    }
}
