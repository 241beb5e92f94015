package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;

/**
 * All that a store keeps of one subject on one limit: a row of {@code rate_limits}. Times are microseconds since the epoch.
 *
 * @param algorithm the name of the algorithm that wrote it; empty if nothing was written yet
 * @param capacity the capacity of the limit when it was written, for people who read the table
 * @param blockedUntil the end of the penalty; in the past or zero if there is none
 * @param last when it was written: the row's own last time, which its clock never goes back behind
 * @param lastAllowed when a request was last allowed, for {@code min-interval}
 * @param expiresAt from when on it says no more than no state at all
 */
public record State(
        String algorithm, Count count, long capacity, long blockedUntil, long last, long lastAllowed, long expiresAt) {

    /** The state of a subject that was never seen. */
    public static final State FRESH = new State("", Count.NONE, 0, 0, 0, 0, 0);

    /** Whether it was never written. */
    public boolean isFresh() {
        return algorithm.isEmpty();
    }

    /** The same state on a clock that was set back by that much: every age stays as it was. */
    State earlier(long micros) {
        return new State(
                algorithm,
                count.earlier(last, micros),
                capacity,
                Math.max(0, blockedUntil - micros),
                last - micros,
                lastAllowed - micros,
                expiresAt);
    }

    State allowedAt(long moment) {
        return new State(algorithm, count, capacity, blockedUntil, last, moment, expiresAt);
    }

    /** This state with that charged which was charged elsewhere between two others, whether or not it has room. */
    public State with(Debt debt, Limit limit, long now) {
        return Check.of(limit, this, now, 0, debt).unchanged();
    }
}
