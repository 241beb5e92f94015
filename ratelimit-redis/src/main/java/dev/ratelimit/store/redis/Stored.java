package dev.ratelimit.store.redis;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;

/**
 * The value of a key: state and violations of one subject on one limit.
 *
 * @param version another number for each value that was ever written; zero if there is no value
 */
record Stored(long version, State state, Violations violations) {

    static final Stored NONE = new Stored(0, State.FRESH, Violations.NONE);

    boolean isNone() {
        return version == 0;
    }

    /** From when on it says no more than no value at all, in milliseconds since the epoch, rounded up. */
    long expiryMillis() {
        long state = this.state.isFresh() ? 0 : this.state.expiresAt();
        long counted = violations.isNone() ? 0 : violations.forgetAt();
        return Math.max(state, counted) / 1_000 + 1;
    }
}
