package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.Reservation;
import java.util.concurrent.atomic.AtomicBoolean;

/** A reservation that can be settled once. */
abstract class OnceSettled implements Reservation {

    private final Decision decision;
    private final AtomicBoolean settled = new AtomicBoolean();

    OnceSettled(Decision decision) {
        this.decision = decision;
    }

    @Override
    public final Decision decision() {
        return decision;
    }

    @Override
    public final boolean commit() {
        settleOnce();
        return true;
    }

    final void settleOnce() {
        if (!settled.compareAndSet(false, true)) {
            throw new IllegalStateException("this reservation was settled already");
        }
    }

    /** The store failed: the charge stays as it was, which is the safe side, unless the caller tries again. */
    final void settleAgain() {
        settled.set(false);
    }
}
