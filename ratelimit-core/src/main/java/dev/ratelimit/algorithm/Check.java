package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;
import dev.ratelimit.support.Micros;
import org.jspecify.annotations.Nullable;

/**
 * One limit of one request, looked at but not charged.
 *
 * <ol>
 *   <li>The moment is fixed: the row's own clock never goes back, so a slightly earlier now counts as the row's last
 *       time. A now that is earlier by more than a second is a clock that was set back. The state is moved along with
 *       it, which neither frees permits nor locks the subject out.
 *   <li>The count is rolled to that moment in the numbers of the limit.
 *   <li>A debt is added, whether or not it has room.
 *   <li>A penalty that still runs denies.
 *   <li>Otherwise the algorithm and {@code min-interval} give the first moment with room.
 * </ol>
 *
 * Nothing is changed by looking. The store then writes {@link #charged()}, {@link #penalized}, or nothing; but
 * {@link #unchanged()} if {@link #mustBeWritten()}.
 */
public final class Check {

    /** How far the clocks of two writers may differ before it counts as a clock that was set. */
    public static final long CLOCK_TOLERANCE = Micros.PER_SECOND;

    private final Limit limit;
    private final CountingAlgorithm algorithm;
    private final long cost;
    private final long now;
    private final State kept;
    private final Count count;
    private final long availableAt;
    private final boolean mustBeWritten;
    private final boolean ofOtherNumbers;

    /**
     * @param kept the state as it is stored, on the clock of now
     * @param rolled its count at that moment
     */
    private Check(Limit limit, State kept, Count rolled, long now, long cost, boolean mustBeWritten) {
        this.limit = limit;
        this.algorithm = CountingAlgorithm.of(limit);
        this.cost = cost;
        this.now = now;
        this.kept = kept;
        this.count = rolled;
        this.mustBeWritten = mustBeWritten;
        this.ofOtherNumbers = !kept.isFresh()
                && (!kept.algorithm().equals(algorithm.name()) || kept.count().size() != rolled.size());
        long room = algorithm.availableAt(rolled, now, Math.min(limit.capacity(), cost));
        this.availableAt = Math.max(Math.max(room, nextAllowed(limit, kept.lastAllowed())), kept.blockedUntil());
    }

    public static Check of(Limit limit, State stored, long now, long cost) {
        return of(limit, stored, now, cost, null);
    }

    /**
     * @param debt a debt to charge before, or {@code null}
     */
    public static Check of(Limit limit, State stored, long clock, long cost, @Nullable Debt debt) {
        if (stored.last() - clock > CLOCK_TOLERANCE || debt != null) {
            return ofChanged(limit, stored, clock, cost, debt);
        }
        long now = Math.max(clock, stored.last());
        return new Check(limit, stored, rolled(CountingAlgorithm.of(limit), stored, now), now, cost, false);
    }

    /** The same where the state changes even if nothing is charged. */
    private static Check ofChanged(Limit limit, State stored, long clock, long cost, @Nullable Debt debt) {
        boolean setBack = stored.last() - clock > CLOCK_TOLERANCE;
        State kept = setBack ? stored.earlier(stored.last() - clock) : stored;
        long now = Math.max(clock, kept.last());
        Count rolled = rolled(CountingAlgorithm.of(limit), kept, now);
        if (debt == null) {
            return new Check(limit, kept, rolled, now, cost, true);
        }
        CountingAlgorithm granting = CountingAlgorithm.of(debt.limit());
        Count charged = CountingAlgorithm.of(limit)
                .add(rolled, rolled(granting, debt.before(), now), rolled(granting, debt.after(), now));
        long allowed = Math.max(kept.lastAllowed(), Math.min(now, debt.after().lastAllowed()));
        return new Check(limit, kept.allowedAt(allowed), charged, now, cost, true);
    }

    private static Count rolled(CountingAlgorithm algorithm, State state, long now) {
        return algorithm.roll(
                state.algorithm().equals(algorithm.name()) ? state.count() : Count.NONE,
                Math.min(now, state.last()),
                now);
    }

    public boolean allowed() {
        return availableAt <= now;
    }

    public boolean blocked() {
        return kept.blockedUntil() > now;
    }

    /** Whether the state has changed even if nothing is charged: by a clock that was set back, or by a debt. */
    public boolean mustBeWritten() {
        return mustBeWritten;
    }

    /** The state as of now, with nothing charged. */
    public State unchanged() {
        return stateAfter(count, kept.lastAllowed(), kept.blockedUntil());
    }

    /** The state after the request was admitted. */
    public State charged() {
        return stateAfter(algorithm.charge(count, now, cost), now, kept.blockedUntil());
    }

    /** How many violations count against the subject, if this request adds none. */
    public long violations(Violations before) {
        return before.countAt(now);
    }

    /** The count of violations after this request was denied. */
    public Violations violation(Violations before) {
        return before.next(limit.penalties(), now);
    }

    /** The state after a violation that began a penalty. */
    public State penalized(Violations after) {
        return stateAfter(count, kept.lastAllowed(), after.penaltyUntil());
    }

    /** Whether the row was written since by a limit with other numbers. */
    public boolean ofOtherNumbers() {
        return ofOtherNumbers;
    }

    /** The state had an earlier charge on it been of this check's cost. */
    public State settled(Charge charge) {
        // A charge of a later moment was made before the clock was set back: no moment of a state is after its now.
        Charge moved = charge.at() <= now ? charge : new Charge(now, charge.cost(), charge.tokens());
        return stateAfter(algorithm.settle(count, now, moved, cost), allowedWithout(charge), kept.blockedUntil());
    }

    /**
     * When a request was last allowed, had this charge not been made. The request before it is not known. But it was so long
     * ago that the next one was allowed when this charge was made, and that is all that matters.
     */
    private long allowedWithout(Charge charge) {
        return charge.forgotten() && kept.lastAllowed() == charge.at()
                ? Math.max(0, charge.at() - Micros.of(limit.minInterval()))
                : kept.lastAllowed();
    }

    /** The answer of the limit if nothing is written. */
    public Verdict verdict() {
        return verdict(count, kept.blockedUntil());
    }

    /** The answer of the limit after the given state was written. */
    public Verdict verdict(State written) {
        return verdict(written.count(), written.blockedUntil());
    }

    private Verdict verdict(Count after, long until) {
        boolean penalty = until > now;
        return new Verdict(
                blocked() ? Outcome.BLOCKED : allowed() ? Outcome.ALLOWED : Outcome.THROTTLED,
                penalty ? 0 : algorithm.remaining(after, now),
                Math.max(algorithm.resetAt(after, now), until),
                Math.max(availableAt, until),
                allowed() ? algorithm.delay(count) : 0,
                penalty ? until : 0,
                0,
                now,
                cost,
                after.tokens());
    }

    private static long nextAllowed(Limit limit, long allowed) {
        return limit.hasMinInterval() && allowed > 0 ? allowed + Micros.of(limit.minInterval()) : 0;
    }

    private State stateAfter(Count next, long allowed, long until) {
        long expiry = Math.max(Math.max(algorithm.resetAt(next, now), nextAllowed(limit, allowed)), until);
        return new State(algorithm.name(), next, limit.capacity(), until, now, allowed, expiry);
    }
}
