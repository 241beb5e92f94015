package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.engine.StoreOrFailurePolicy.Settlement;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The charges of one request, until they are settled. */
final class StoreReservation implements Reservation {

    private enum State {
        OPEN,
        SETTLED,
        /** The store may have settled it. A second refund could admit too much. */
        UNKNOWN
    }

    private final Charges charges;
    private final Decision decision;
    private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);
    private final List<Demand> demands;
    private final List<Verdict> verdicts;
    private final @Nullable Map<StateKey, Long> eras;
    private final Trials.Charges trials;

    /**
     * @param eras if it was decided in this process, the debts that hold it; else {@code null}
     */
    StoreReservation(
            Charges charges,
            Decision decision,
            List<Demand> demands,
            List<Verdict> verdicts,
            @Nullable Map<StateKey, Long> eras,
            Trials.Charges trials) {
        this.decision = decision;
        this.eras = eras;
        this.trials = trials;
        this.charges = charges;
        this.demands = demands;
        this.verdicts = verdicts;
    }

    @Override
    public Decision decision() {
        return decision;
    }

    @Override
    public boolean commit() {
        return begins();
    }

    @Override
    public boolean refund() {
        return settle(0);
    }

    @Override
    public boolean giveBack() {
        boolean done = settle(0, true);
        if (done && decision.allowed()) {
            demands.forEach(demand -> charges.freed(demand.key()));
        }
        return done;
    }

    @Override
    public boolean settle(long cost) {
        return settle(cost, false);
    }

    private boolean settle(long cost, boolean withInterval) {
        if (cost < 0) {
            throw new IllegalArgumentException("cost is " + cost + "; settle for zero or more");
        }
        demands.forEach(demand -> LimitResolution.requireGrantable(demand.limit(), cost));
        if (!begins()) {
            return false;
        }
        Settlement end = charges.settle(settlements(cost, withInterval), eras);
        if (end == Settlement.DONE) {
            if (withInterval) {
                trials.giveBack();
            } else {
                trials.settle(cost);
            }
            return true;
        }
        state.set(end == Settlement.UNDONE ? State.OPEN : State.UNKNOWN);
        return false;
    }

    /** The charges that change; a limit that has been redefined since no longer holds the charge. */
    private List<Demand> settlements(long cost, boolean withInterval) {
        List<Demand> settlements = new ArrayList<>(demands.size());
        if (decision.allowed()) {
            for (int i = 0; i < verdicts.size(); i++) {
                Demand demand = demands.get(i);
                Charge charge = verdicts.get(i).charge();
                if (demand.cost() != cost && charges.isCurrent(demand.limit())) {
                    settlements.add(new Demand(
                            demand.subject(), demand.limit(), cost, withInterval ? charge.withInterval() : charge));
                }
            }
        }
        return settlements;
    }

    /** Whether it may be settled now: not if nobody knows whether it was settled before. */
    private boolean begins() {
        if (state.compareAndSet(State.OPEN, State.SETTLED)) {
            return true;
        }
        if (state.get() == State.UNKNOWN) {
            return false;
        }
        throw new IllegalStateException("this reservation was settled already");
    }
}
