package dev.ratelimit.store.swap;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;

/**
 * A row as it was read.
 *
 * @param violations those of the row, if they were asked for
 * @param version changes with every write of the row; zero if there is no row
 */
public record SwapRow(State state, Violations violations, long version) {

    /** There is no row. */
    public static final SwapRow NONE = new SwapRow(State.FRESH, Violations.NONE, 0);
}
