package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import java.util.function.BooleanSupplier;

/** Permits that were served from a lease. They are either used, or put back whole. */
final class LeasedReservation extends OnceSettled {

    private final BooleanSupplier putBack;
    private final Trials.Charges trials;

    LeasedReservation(Decision decision, BooleanSupplier putBack, Trials.Charges trials) {
        super(decision);
        this.putBack = putBack;
        this.trials = trials;
    }

    /** A lease that is no longer held takes nothing back: the permits stay charged. */
    @Override
    public boolean refund() {
        settleOnce();
        boolean done = putBack.getAsBoolean();
        if (done) {
            trials.settle(0);
        } else {
            settleAgain();
        }
        return done;
    }

    @Override
    public boolean settle(long cost) {
        throw new UnsupportedOperationException(
                "cost is " + cost + "; commit or give back a charge, or use reserve() to settle for another cost");
    }
}
