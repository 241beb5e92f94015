package dev.ratelimit.engine.lease;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;

/**
 * Permits of one subject that were taken from the store at once and are served here. Not thread-safe: {@link Leases} holds
 * its lock.
 */
final class HeldLease {

    private static final long NANOS_PER_MICRO = 1_000;

    private final Limit limit;
    private final Verdict verdict;
    private final long askedNanos;
    private final long takenAt;
    private long left;
    private boolean lapsed;
    private boolean used = true;

    /**
     * @param verdict the answer of the store when it charged them
     * @param takenAt the clock of the store at that moment
     * @param askedNanos when it was asked
     */
    HeldLease(Limit limit, Verdict verdict, long takenAt, long askedNanos) {
        this.limit = limit;
        this.verdict = verdict;
        this.takenAt = takenAt;
        this.askedNanos = askedNanos;
        this.left = verdict.charge().cost();
    }

    boolean isOf(Limit other) {
        return limit.equals(other);
    }

    Limit limit() {
        return limit;
    }

    /**
     * Serves a request of that cost, if as much is left that still counts.
     *
     * @return whether it was served
     */
    boolean serve(long cost, long nanos) {
        used = true;
        long counting = verdict.charge().servable(limit, clock(nanos));
        if (counting < left) {
            left = counting;
            lapsed = true;
        }
        if (left < cost) {
            return false;
        }
        left -= cost;
        return true;
    }

    /** Takes permits back that were served and not used; those that have lapsed meanwhile are dropped by the next request. */
    void putBack(long cost) {
        left += cost;
    }

    /** The clock of the store, rather too late than too early: no permit is served after it has ceased to count. */
    long clock(long nanos) {
        return takenAt + (nanos - askedNanos) / NANOS_PER_MICRO;
    }

    /** The remaining permits of the limit, as far as this process knows. */
    long remaining() {
        return verdict.remaining() + left;
    }

    Verdict verdict() {
        return verdict;
    }

    long left() {
        return left;
    }

    /** Whether permits of it were not served in time. */
    boolean lapsed() {
        return lapsed;
    }

    /** Whether it was used since this was last asked. */
    boolean wasUsed() {
        boolean was = used;
        used = false;
        return was;
    }

    /** The charge of the whole lease, to be settled for the served part. */
    Charge charge() {
        return verdict.charge();
    }
}
