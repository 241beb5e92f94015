package dev.ratelimit.store;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;

/** Shows the states of a store in memory to the tests of this module. */
public final class MemoryStates {

    private MemoryStates() {}

    /** The state; {@code null} if there is none. */
    public static State state(MemoryLimitStore memory, StateKey key) {
        return memory.state(key);
    }

    /** The violations; {@code null} if there are none. */
    public static Violations violations(MemoryLimitStore memory, StateKey key) {
        return memory.violations(key);
    }
}
