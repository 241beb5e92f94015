package dev.ratelimit.test.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.test.RateLimitClock;
import dev.ratelimit.test.store.RandomLimits.Kind;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Sends the same random groups to a store and to the one in memory, on the same clock. Every answer must be the same. Extend
 * it in a test of your store. A failure names the seed: repeat it with that system property.
 */
public abstract class LimitStoreHistories {

    private static final int GROUPS_PER_HISTORY = 40;

    private final RateLimitClock clock = new RateLimitClock();

    /** The store under test, without any state, on that clock. */
    protected abstract LimitStore open(InstantSource time) throws Exception;

    /** Deletes all state of the store: the next history begins without any. */
    protected abstract void clear() throws Exception;

    /**
     * Called after each group, to compare more than the answers.
     *
     * @param keys all that the history may touch
     * @param memory the store in memory, which has decided the same
     * @param where names the seed and the group, for messages
     */
    protected void decided(List<StateKey> keys, MemoryLimitStore memory, String where) throws Exception {}

    /** How often each algorithm is asked at least. */
    protected int demandsPerAlgorithm() {
        return 20_000;
    }

    @Test
    void everyAnswerIsTheSameAsInMemory() throws Exception {
        TestSeed seed = TestSeed.of(getClass().getSimpleName());
        Map<Kind, Integer> demands = new HashMap<>();
        try (LimitStore store = open(clock)) {
            for (int number = 0; !enough(demands); number++) {
                RandomGroups groups = new RandomGroups(seed.history(number), clock);
                MemoryLimitStore memory = new MemoryLimitStore(clock);
                for (int group = 0; group < GROUPS_PER_HISTORY; group++) {
                    String where = seed + ", history " + number + ", group " + group;
                    decideInBoth(groups, memory, store, where);
                    decided(groups.keys(), memory, where);
                }
                groups.demands().forEach((kind, times) -> demands.merge(kind, times, Integer::sum));
                clear();
            }
        }
    }

    private void decideInBoth(RandomGroups groups, MemoryLimitStore memory, LimitStore store, String where) {
        List<Operation> group = groups.next();
        List<Answer> expected = memory.decide(group);
        List<Answer> actual;
        try {
            actual = store.decide(group);
        } catch (RuntimeException e) {
            throw new AssertionError(where + ": " + group, e);
        }
        for (int i = 0; i < group.size(); i++) {
            assertThat(actual.get(i))
                    .as("%s, operation %d: %s", where, i, group.get(i))
                    .isEqualTo(expected.get(i));
        }
        groups.answered(expected);
    }

    private boolean enough(Map<Kind, Integer> demands) {
        for (Kind kind : Kind.values()) {
            if (demands.getOrDefault(kind, 0) < demandsPerAlgorithm()) {
                return false;
            }
        }
        return true;
    }
}
