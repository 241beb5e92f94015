package dev.ratelimit.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GoalTest {

    @Test
    void goalThatIsMetIsOnlyNamed() {
        assertThat(Goal.atLeast(0.8).judge(0.8)).isEqualTo("≥ 0.8");
        assertThat(Goal.atMost(500).in(" B").judge(499)).isEqualTo("≤ 500 B");
        assertThat(Goal.NONE.judge(1)).isEmpty();
    }

    @Test
    void goalThatIsMissedIsSaid() {
        assertThat(Goal.atLeast(0.8).judge(0.79)).isEqualTo("≥ 0.8 (not met)");
        assertThat(Goal.atMost(0.1).judge(0.11)).isEqualTo("≤ 0.1 (not met)");
        assertThat(Goal.atLeast(1).judge(Double.NaN)).isEqualTo("≥ 1 (not met)");
    }

    @Test
    void stretchIsJudgedApartFromWhatMustHold() {
        Goal goal = Goal.atLeast(5.5).stretch(7);

        assertThat(goal.judge(7.1)).isEqualTo("≥ 5.5, stretch ≥ 7");
        assertThat(goal.judge(6)).isEqualTo("≥ 5.5, stretch ≥ 7 (stretch not met)");
        assertThat(goal.judge(5.4)).isEqualTo("≥ 5.5, stretch ≥ 7 (not met)");
    }
}
