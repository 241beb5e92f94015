package dev.ratelimit.engine;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** Permits that were served from a lease. */
final class LeasedCharge implements Charged {

    private final Decision decision;
    private final BooleanSupplier putBack;
    private final Trials.Charges trials;
    private final AtomicBoolean givenBack = new AtomicBoolean();

    LeasedCharge(Decision decision, BooleanSupplier putBack, Trials.Charges trials) {
        this.decision = decision;
        this.putBack = putBack;
        this.trials = trials;
    }

    @Override
    public Decision decision() {
        return decision;
    }

    /** A lease that is no longer held takes nothing back: the permits stay charged. */
    @Override
    public boolean giveBack() {
        if (!givenBack.compareAndSet(false, true)) {
            throw new IllegalStateException("this charge was given back already");
        }
        boolean done = putBack.getAsBoolean();
        if (done) {
            trials.giveBack();
        }
        return done;
    }
}
