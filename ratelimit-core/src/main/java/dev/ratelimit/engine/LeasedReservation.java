package dev.ratelimit.engine;

import dev.ratelimit.Decision;

/** Permits that were served from a lease. They are either used, or put back whole. */
final class LeasedReservation extends OnceSettled {

    private final Runnable putBack;
    private final Trials.Charges trials;

    LeasedReservation(Decision decision, Runnable putBack, Trials.Charges trials) {
        super(decision);
        this.putBack = putBack;
        this.trials = trials;
    }

    @Override
    public boolean refund() {
        settleOnce();
        putBack.run();
        trials.settle(0);
        return true;
    }

    @Override
    public boolean settle(long cost) {
        throw new UnsupportedOperationException(
                "a charge that may be given back cannot be settled for another cost; use reserve()");
    }
}
