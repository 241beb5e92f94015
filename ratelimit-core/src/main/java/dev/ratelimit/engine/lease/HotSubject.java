package dev.ratelimit.engine.lease;

import dev.ratelimit.Lease;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Operation.Demand;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A subject on one limit that was asked for a moment ago. All but the subject is guarded by its lock. */
final class HotSubject {

    private static final long MOST_AUTO = 10_000;

    /** An automatic lease begins when the store was asked so often while the subject was hot. */
    private static final int ASKED_OFTEN = 3;

    /** The size of the first automatic lease. */
    private static final long FIRST_AUTO = 2;

    /** The same if other instances ask, too: a call that meets another one is repeated, so fewer calls are worth more. */
    private static final long FIRST_AUTO_IF_CONTENDED = 16;

    final Subject subject;
    final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    @Nullable
    HeldLease held;

    boolean dropped;
    private boolean taking;
    private int waiting;
    private int asked;

    /** The remaining permits by the last answer of the store. A lease takes at most half of them. */
    private long remaining;

    /** How many permits the next automatic lease takes. */
    private long auto = 1;

    HotSubject(Subject subject) {
        this.subject = subject;
    }

    /** How much to take: in permits, the request's own included. */
    long size(Demand demand) {
        Lease lease = demand.limit().lease();
        long wanted = lease.isAuto() ? auto : lease.permits();
        long callers = (waiting + 1L) * demand.cost();
        return Math.min(
                Math.max(wanted, callers),
                Math.min(remaining / 2, demand.limit().capacity()));
    }

    /** Whether a lease is worth the call: others than the request itself are served from it. */
    boolean isWorthALease(Demand demand) {
        return !dropped && size(demand) >= 2 * demand.cost();
    }

    boolean isTaking() {
        return taking;
    }

    void begin() {
        taking = true;
    }

    void end() {
        taking = false;
        changed.signalAll();
    }

    /** Waits until another caller has taken a lease; {@code false} after the deadline. */
    @SuppressWarnings("WaitNotInLoop") // the caller looks again
    boolean await(long deadlineNanos) {
        boolean interrupted = Thread.interrupted();
        waiting++;
        try {
            long left = deadlineNanos - System.nanoTime();
            return left > 0 && changed.awaitNanos(left) > 0;
        } catch (InterruptedException e) {
            interrupted = true;
            return true;
        } finally {
            waiting--;
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits until nobody takes a lease, or until that moment. */
    void awaitTaken(long until) throws InterruptedException {
        while (taking && until - System.nanoTime() > 0) {
            changed.awaitNanos(until - System.nanoTime());
        }
    }

    /** No lease was granted. */
    void notGranted() {
        remaining = 0;
    }

    void remaining(long permits) {
        remaining = permits;
    }

    /**
     * The store was asked for the subject, without a lease.
     *
     * @param left the remaining permits by its answer
     * @param contended whether other instances ask for the subject, too
     */
    void asked(Demand demand, long left, boolean contended) {
        remaining = left;
        asked++;
        if (contended || asked >= ASKED_OFTEN) {
            long first = contended ? FIRST_AUTO_IF_CONTENDED : FIRST_AUTO;
            auto = Math.max(auto, Math.min(MOST_AUTO, first * Math.min(MOST_AUTO, demand.cost())));
        }
    }

    /**
     * A lease was taken.
     *
     * @param before the lease that was held before, or {@code null}
     */
    void taken(long permits, @Nullable HeldLease before) {
        if (before == null) {
            return;
        }
        auto = before.lapsed() ? Math.max(1, permits / 2) : Math.min(MOST_AUTO, 2 * permits);
    }
}
