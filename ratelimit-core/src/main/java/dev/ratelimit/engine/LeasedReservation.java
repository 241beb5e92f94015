package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.Reservation;
import java.util.concurrent.atomic.AtomicBoolean;

/** Permits that were served from a lease. They are either used, or put back whole. */
final class LeasedReservation implements Reservation {

    private final Decision decision;
    private final Runnable putBack;
    private final Trials.Charges tried;
    private final AtomicBoolean settled = new AtomicBoolean();

    LeasedReservation(Decision decision, Runnable putBack, Trials.Charges tried) {
        this.decision = decision;
        this.putBack = putBack;
        this.tried = tried;
    }

    @Override
    public Decision decision() {
        return decision;
    }

    @Override
    public boolean commit() {
        settleOnce();
        return true;
    }

    @Override
    public boolean refund() {
        settleOnce();
        putBack.run();
        tried.settle(0);
        return true;
    }

    @Override
    public boolean settle(long cost) {
        throw new UnsupportedOperationException(
                "a charge that may be given back cannot be settled for another cost; use reserve()");
    }

    private void settleOnce() {
        if (!settled.compareAndSet(false, true)) {
            throw new IllegalStateException("this reservation was settled already");
        }
    }
}
