package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;

/**
 * What each of several requests was told that were charged to one state together, at the same moment: as if they had come
 * one after another.
 */
public final class Admission {

    private final Meter meter;
    private final long now;
    private final State after;
    private long later;

    /**
     * @param after the state after all of them
     * @param total what all of them were charged
     */
    public Admission(Limit limit, State after, long total) {
        this.meter = Meter.of(limit.algorithm());
        this.now = after.last();
        this.after = after;
        this.later = total;
    }

    /** What the next of the requests was told, which was charged that much. */
    public Verdict next(long cost) {
        State before = meter.uncharge(after, now, later);
        later -= cost;
        State charged = later == 0 ? after : meter.uncharge(after, now, later);
        return new Verdict(
                Outcome.ALLOWED,
                meter.remaining(charged, now),
                meter.resetAt(charged, now),
                now,
                meter.delay(before),
                0,
                new Charge(now, cost, charged.tokens()));
    }

    /** When they were charged. */
    public long now() {
        return now;
    }
}
