package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;

/**
 * Several requests that were charged to one state together, at the same moment. Gives the answer of each, as if they had
 * come one after another.
 */
public final class Admission {

    private final CountingAlgorithm algorithm;
    private final long now;
    private final Count after;
    private long later;

    /**
     * @param now when they were charged
     * @param after the count after all of them
     * @param total the cost of all of them
     */
    public Admission(Limit limit, long now, Count after, long total) {
        this.algorithm = CountingAlgorithm.of(limit);
        this.now = now;
        this.after = after;
        this.later = total;
    }

    /** The answer to the next of the requests, which was charged that much. */
    public Verdict next(long cost) {
        Count before = algorithm.givesTurns() ? algorithm.uncharge(after, now, later) : after;
        later -= cost;
        Count charged = later == 0 ? after : algorithm.uncharge(after, now, later);
        return new Verdict(
                Outcome.ALLOWED,
                algorithm.remaining(charged, now),
                algorithm.resetAt(charged, now),
                now,
                algorithm.delay(before),
                0,
                0,
                now,
                cost,
                charged.tokens());
    }

    /** When they were charged. */
    public long now() {
        return now;
    }
}
