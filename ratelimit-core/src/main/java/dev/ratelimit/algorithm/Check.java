package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Micros;
import dev.ratelimit.Outcome;

/**
 * One limit of one request, looked at but not charged.
 *
 * <ol>
 *   <li>The moment is fixed: the row's own clock never goes back, so a slightly earlier now counts as the row's last
 *       time. A now that is earlier by more than a second is a clock that was set back: the state is moved along with
 *       it, which neither frees nor locks out.
 *   <li>The state is rolled to that moment in the numbers of the limit.
 *   <li>A penalty that still runs denies.
 *   <li>Otherwise the algorithm and {@code min-interval} say from when on there is room.
 * </ol>
 *
 * Nothing is changed by looking. The store then writes {@link #charged()}, {@link #penalized}, or nothing; but
 * {@link #unchanged()} if the clock was set back.
 */
public final class Check {

    /** How far the clocks of two writers may differ before it counts as a clock that was set. */
    public static final long CLOCK_TOLERANCE = Micros.PER_SECOND;

    private final Limit limit;
    private final Meter meter;
    private final long cost;
    private final long now;
    private final State state;
    private final long availableAt;
    private final boolean clockWasSetBack;
    private final boolean ofOtherNumbers;

    private Check(Limit limit, State stored, long clock, long cost) {
        this.clockWasSetBack = stored.last() - clock > CLOCK_TOLERANCE;
        State kept = clockWasSetBack ? stored.earlier(stored.last() - clock) : stored;
        this.limit = limit;
        this.meter = Meter.of(limit.algorithm());
        this.cost = cost;
        this.now = Math.max(clock, kept.last());
        this.state = meter.roll(kept.algorithm().equals(limit.algorithm().written()) ? kept : kept.uncounted(), now);
        this.ofOtherNumbers = !stored.isFresh()
                && (!stored.algorithm().equals(state.algorithm()) || stored.windowSize() != state.windowSize());
        long room = Math.max(meter.availableAt(state, now, cost), nextAllowed(state));
        this.availableAt = Math.max(room, state.blockedUntil());
    }

    public static Check of(Limit limit, State stored, long now, long cost) {
        return new Check(limit, stored, now, cost);
    }

    public boolean allowed() {
        return availableAt <= now;
    }

    public boolean blocked() {
        return state.blockedUntil() > now;
    }

    /** Whether the state was moved along with the clock: it must be written, or time would stand still for it. */
    public boolean clockWasSetBack() {
        return clockWasSetBack;
    }

    /** The state as of now, with nothing charged. */
    public State unchanged() {
        return written(state);
    }

    /** The state after the request was admitted. */
    public State charged() {
        return written(meter.charge(state, now, cost).allowedAt(now));
    }

    /** The count of violations after this request was denied. */
    public Violations violation(Violations before) {
        return before.next(limit.penalties(), now);
    }

    /** The state after a violation that began a penalty. */
    public State penalized(Violations after) {
        return written(state.blockedUntil(after.penaltyUntil()));
    }

    /** Whether the row was written since in other numbers than those that the charge was made in. */
    public boolean ofOtherNumbers() {
        return ofOtherNumbers;
    }

    /** The state had an earlier charge on it been of this check's cost. */
    public State settled(Charge charge) {
        // A charge of a later moment was made before the clock was set back: no moment of a state is after its now.
        Charge moved = new Charge(Math.min(charge.at(), now), charge.cost(), charge.tokens());
        return written(meter.settle(state, now, moved, cost));
    }

    /** What the limit says if nothing is written. */
    public Verdict verdict() {
        return verdict(state, state.blockedUntil());
    }

    /** What the limit says after the given state was written. */
    public Verdict verdict(State written) {
        return verdict(written, written.blockedUntil());
    }

    private Verdict verdict(State after, long blockedUntil) {
        boolean penalty = blockedUntil > now;
        return new Verdict(
                blocked() ? Outcome.BLOCKED : allowed() ? Outcome.ALLOWED : Outcome.THROTTLED,
                penalty ? 0 : meter.remaining(after, now),
                Math.max(meter.resetAt(after, now), blockedUntil),
                Math.max(availableAt, blockedUntil),
                allowed() ? meter.delay(state) : 0,
                penalty ? blockedUntil : 0,
                new Charge(now, cost, after.tokens()));
    }

    private long nextAllowed(State of) {
        return limit.hasMinInterval() && of.lastAllowed() > 0 ? of.lastAllowed() + Micros.of(limit.minInterval()) : 0;
    }

    private State written(State next) {
        long expiry = Math.max(Math.max(meter.resetAt(next, now), nextAllowed(next)), next.blockedUntil());
        return next.written(now, expiry);
    }
}
