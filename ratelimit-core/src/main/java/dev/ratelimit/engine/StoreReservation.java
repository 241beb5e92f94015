package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Remembers what was charged on each limit, until it is settled. */
final class StoreReservation implements Reservation {

    private final StoreRateLimiter limiter;
    private final Decision decision;
    private final List<Demand> demands;
    private final List<Verdict> verdicts;
    private final AtomicBoolean settled = new AtomicBoolean();

    StoreReservation(StoreRateLimiter limiter, Decision decision, List<Demand> demands, List<Verdict> verdicts) {
        this.limiter = limiter;
        this.decision = decision;
        this.demands = demands;
        this.verdicts = verdicts;
    }

    @Override
    public Decision decision() {
        return decision;
    }

    @Override
    public void commit() {
        settleOnce();
    }

    @Override
    public void refund() {
        settle(0);
    }

    @Override
    public void settle(long cost) {
        if (cost < 0) {
            throw new IllegalArgumentException("cost is " + cost + "; settle for zero or more");
        }
        demands.forEach(demand -> StoreRateLimiter.requireGrantable(demand.limit(), cost));
        settleOnce();
        if (!decision.allowed() || verdicts.isEmpty()) {
            return;
        }
        List<Demand> settlements = new ArrayList<>(demands.size());
        for (int i = 0; i < demands.size(); i++) {
            Demand demand = demands.get(i);
            if (demand.cost() != cost) {
                settlements.add(new Demand(
                        demand.subject(), demand.limit(), cost, verdicts.get(i).charge()));
            }
        }
        if (settlements.isEmpty()) {
            return;
        }
        try {
            limiter.submit(new Operation(Kind.SETTLE, settlements));
        } catch (UndecidedException e) {
            // The charge stays as it was, which is the safe side; the change of state is in the log already.
        }
    }

    private void settleOnce() {
        if (!settled.compareAndSet(false, true)) {
            throw new IllegalStateException("this reservation was settled already");
        }
    }
}
