package dev.ratelimit;

import static dev.ratelimit.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Penalties.Step;
import dev.ratelimit.algorithm.FixedWindow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PenaltiesTest {

    private static final Duration DAY = Duration.ofHours(24);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static Penalties penalties(Step... steps) {
        return new Penalties(List.of(steps), DAY);
    }

    @Test
    void theHighestTierThatTheCountHasReachedApplies() {
        Penalties penalties = penalties(new Step(2, MINUTE), new Step(5, Duration.ofMinutes(10)));

        assertThat(penalties.blockFor(0)).isEqualTo(Duration.ZERO);
        assertThat(penalties.blockFor(1)).isEqualTo(Duration.ZERO);
        assertThat(penalties.blockFor(2)).isEqualTo(MINUTE);
        assertThat(penalties.blockFor(4)).isEqualTo(MINUTE);
        assertThat(penalties.blockFor(5)).isEqualTo(Duration.ofMinutes(10));
        assertThat(penalties.blockFor(Long.MAX_VALUE)).isEqualTo(Duration.ofMinutes(10));
    }

    @Test
    void aHigherTierMayBlockForLess() {
        Penalties penalties = penalties(new Step(1, Duration.ofMinutes(10)), new Step(2, MINUTE));

        assertThat(penalties.blockFor(2)).isEqualTo(MINUTE);
    }

    @Test
    void withoutTiersNobodyIsBlocked() {
        assertThat(Penalties.NONE.isEmpty()).isTrue();
        assertThat(Penalties.NONE.blockFor(1_000_000)).isEqualTo(Duration.ZERO);
        assertThat(penalties(new Step(1, MINUTE)).isEmpty()).isFalse();
    }

    @Test
    void tiersThatDoNotAscendAreRefused() {
        String advice = "; write the steps in ascending order, each number of violations once";

        refused(
                () -> penalties(new Step(1, MINUTE), new Step(5, MINUTE), new Step(3, MINUTE)),
                "penalties[2].after is 3" + advice);
        refused(() -> penalties(new Step(2, MINUTE), new Step(2, MINUTE)), "penalties[1].after is 2" + advice);
        refused(
                () -> Limit.named("api")
                        .algorithm(() -> new FixedWindow(5, MINUTE))
                        .penalty(2, MINUTE)
                        .penalty(1, MINUTE)
                        .build(),
                "limit 'api': penalties[1].after is 1" + advice);
    }

    @Test
    void aTierOfNoViolationsOrNoTimeIsRefused() {
        refused(() -> new Step(0, MINUTE), "penalties.after is 0; write a whole number from 1 to 1000000000000");
        refused(() -> new Step(-3, MINUTE), "penalties.after is -3; write a whole number from 1 to 1000000000000");
        refused(() -> new Step(1, Duration.ZERO), "penalties.block is '0s'; write a time such as 1m");
        refused(
                () -> new Step(1, Duration.ofSeconds(-1)),
                "penalties.block is 'PT-1S'; write a time in whole microseconds of at most 3660d, such as 1m");
    }

    @Test
    void forgettingNeedsATime() {
        refused(() -> new Penalties(List.of(), Duration.ZERO), "forget-after is '0s'; write a time such as 1m");
        refused(
                () -> new Penalties(List.of(), Duration.ofDays(-1)),
                "forget-after is 'PT-24H'; write a time in whole microseconds of at most 3660d, such as 1m");
    }
}
