package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.StateKey;
import org.junit.jupiter.api.Test;

/** An instance remembers values within bounds, and notices when others write them. */
class RememberedValuesTest {

    private static final StateKey KEY = new StateKey("user:alice", "api");

    private final RememberedValues remembered = new RememberedValues(100);

    private static Stored value(long version) {
        return value(version, Log.EMPTY);
    }

    private static Stored value(long version, Log log) {
        return new Stored(
                version, new State("sliding-log", new Count(1, 1, 1, 0, 0, log), 1, 0, 1, 1, 1), Violations.NONE);
    }

    @Test
    void valueThatWasWrittenIsRemembered() {
        assertThat(remembered.get(KEY)).isEqualTo(Stored.NONE);

        remembered.won(KEY, value(1));

        assertThat(remembered.get(KEY)).isEqualTo(value(1));
    }

    @Test
    void neverMoreThanItsBound() {
        for (int i = 0; i < 10_000; i++) {
            remembered.won(new StateKey("user:" + i, "api"), value(i + 1));
        }

        long kept = 0;
        for (int i = 0; i < 10_000; i++) {
            kept += remembered.get(new StateKey("user:" + i, "api")).isNone() ? 0 : 1;
        }
        assertThat(kept).isBetween(50L, 101L);
    }

    @Test
    void valueInUseIsKept() {
        for (int i = 0; i < 10_000; i++) {
            remembered.won(new StateKey("user:" + i, "api"), value(i + 1));
            remembered.won(KEY, value(i + 1));
        }

        assertThat(remembered.get(KEY)).isEqualTo(value(10_000));
    }

    @Test
    void longLogIsNotKept() {
        remembered.won(KEY, value(1, Log.of(1, 10_000)));

        assertThat(remembered.get(KEY)).isEqualTo(Stored.NONE);
    }

    @Test
    void valueThatIsGoneIsForgotten() {
        remembered.won(KEY, value(1));
        remembered.won(KEY, Stored.NONE);

        assertThat(remembered.get(KEY)).isEqualTo(Stored.NONE);
    }

    @Test
    void valueIsContendedAfterSeveralLostSwaps() {
        remembered.won(KEY, value(1));
        remembered.lost(KEY, value(2));
        assertThat(remembered.isContended(KEY)).isFalse();

        remembered.lost(KEY, value(3));

        assertThat(remembered.isContended(KEY)).isTrue();
        assertThat(remembered.get(KEY)).isEqualTo(value(3));
    }

    @Test
    void valueIsNoLongerContendedAfterWonSwaps() {
        remembered.won(KEY, value(1));
        remembered.lost(KEY, value(2));
        remembered.lost(KEY, value(3));

        remembered.won(KEY, value(4));

        assertThat(remembered.isContended(KEY)).isFalse();
    }

    @Test
    void firstReadIsNoLoss() {
        remembered.lost(KEY, value(1));
        remembered.lost(KEY, value(1));

        assertThat(remembered.isContended(KEY)).isFalse();
        assertThat(remembered.get(KEY)).isEqualTo(value(1));
    }

    /** Else a subject that comes once in each window would count as contended, on a single instance. */
    @Test
    void expiredValueIsNoLoss() {
        for (int window = 1; window <= 50; window++) {
            remembered.won(KEY, value(window));
            remembered.lost(KEY, Stored.NONE);
        }

        assertThat(remembered.isContended(KEY)).isFalse();
    }
}
