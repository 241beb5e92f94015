package dev.ratelimit.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Subject;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DistinctSubjectsTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final DistinctSubjects subjects = new DistinctSubjects();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 5, 10})
    void aFewAreCountedAlmostExactly(int number) {
        add(number, 0);

        assertThat(subjects.estimate(0)).isBetween(number * 9L / 10, number + 1L);
    }

    /** Five times the standard error of 3 %: a random seed fails once in millions of runs. */
    @ParameterizedTest
    @ValueSource(ints = {100, 1_000, 3_000, 20_000, 200_000})
    void manyAreEstimated(int number) {
        add(number, 0);
        add(number, 1);

        assertThat(subjects.estimate(0)).isCloseTo(number, Percentage.withPercentage(17));
    }

    @Test
    void oneThatComesAgainIsCountedOnce() {
        for (int i = 0; i < 1_000; i++) {
            subjects.add(Subject.user("alice"), i * 10 * SECOND / 1_000);
        }

        assertThat(subjects.estimate(10 * SECOND)).isEqualTo(1);
    }

    @Test
    void afterAMinuteTheyAreForgotten() {
        add(50, 0);

        assertThat(subjects.estimate(49 * SECOND)).isBetween(40L, 60L);
        assertThat(subjects.estimate(60 * SECOND)).isZero();
    }

    @Test
    void aPlaceThatIsUsedAgainHoldsNothingOld() {
        add(50, 0);
        subjects.add(Subject.user("later"), 60 * SECOND);

        assertThat(subjects.estimate(60 * SECOND)).isEqualTo(1);
    }

    private void add(int number, long nanos) {
        for (int i = 0; i < number; i++) {
            subjects.add(Subject.ip("203.0." + i / 256 + "." + i % 256), nanos);
        }
    }
}
