package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;

/**
 * A charge, with all that is needed to settle it exactly.
 *
 * @param at when it was charged
 * @param cost how much
 * @param tokens the level of a bucket right after it, in units; zero for other algorithms
 * @param forgotten whether a settlement also takes back its time for {@code min-interval}
 */
public record Charge(long at, long cost, long tokens, boolean forgotten) {

    public Charge(long at, long cost, long tokens) {
        this(at, cost, tokens, false);
    }

    /** The same charge, of which not even the time is to remain. */
    public Charge withInterval() {
        return new Charge(at, cost, tokens, true);
    }

    /**
     * How many of these permits may be served at that moment, if they were taken in advance. It is as many as a refund
     * would then give back. So serving equals a refund followed by a new charge. No more is admitted than if each
     * permit were charged when it is served.
     *
     * <ul>
     *   <li>A permit of a window is of that window alone; in the next it would come on top of what that one grants.
     *   <li>Of a token bucket, as many as the bucket would still lack had only time passed since: the rest would have run
     *       over. Of a leaky bucket, as many as would still be in it.
     * </ul>
     *
     * @param now the clock of the store; if it is not known exactly, rather too late than too early
     */
    public long servable(Limit limit, long now) {
        return CountingAlgorithm.of(limit).servable(this, now);
    }
}
