package dev.ratelimit.store.move;

import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The charges that both stores have made for the same request. Each store needs its own to settle it exactly, but an answer has
 * room for one. The latest ones are remembered. A charge that is no longer remembered stays when it is to be given back.
 * Thread-safe.
 */
final class BothCharges {

    private static final int MOST = 65_536;

    /** The charge as the answer shows it. */
    private record Answered(StateKey key, long at, long cost, long tokens) {

        static Answered of(StateKey key, Charge charge) {
            return new Answered(key, charge.at(), charge.cost(), charge.tokens());
        }
    }

    /** The same charge in each store. */
    record Both(Charge previous, Charge current) {

        /** The settlement for the previous store. */
        Demand inPrevious(Demand settlement) {
            return of(settlement, previous);
        }

        /** The settlement for the current store. */
        Demand inCurrent(Demand settlement) {
            return of(settlement, current);
        }

        private static Demand of(Demand settlement, Charge charge) {
            Charge asked = settlement.charge();
            boolean forgotten = asked != null && asked.forgotten();
            return with(settlement, settlement.cost(), forgotten ? charge.withInterval() : charge);
        }
    }

    private final Map<Answered, Both> latest = new LinkedHashMap<>() {

        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Answered, Both> eldest) {
            return size() > MOST;
        }
    };

    synchronized void remember(StateKey key, Verdict answered, Charge previous, Charge current) {
        latest.put(Answered.of(key, answered.charge()), new Both(previous, current));
    }

    /** The charges to settle. */
    synchronized Both find(Demand settlement) {
        Charge asked = charge(settlement);
        Both known = latest.get(Answered.of(settlement.key(), asked));
        if (known != null) {
            return known;
        }
        // A larger cost is charged in both stores, a smaller one gives nothing back.
        Charge atMost = new Charge(asked.at(), Math.min(asked.cost(), settlement.cost()), asked.tokens());
        return new Both(atMost, atMost);
    }

    /** Notes that the previous store has settled and the current one has not: the next try must not do it again. */
    synchronized void settledInPrevious(Demand settlement) {
        latest.computeIfPresent(Answered.of(settlement.key(), charge(settlement)), (key, both) -> {
            Charge before = both.previous();
            return new Both(new Charge(before.at(), settlement.cost(), before.tokens()), both.current());
        });
    }

    private static Charge charge(Demand settlement) {
        @Nullable Charge charge = settlement.charge();
        if (charge == null) {
            throw new IllegalArgumentException("a settlement needs the charge to change");
        }
        return charge;
    }

    /** The demand as a settlement of that charge. */
    static Demand with(Demand demand, long cost, Charge charge) {
        return new Demand(demand.subject(), demand.limit(), demand.key(), cost, charge, demand.debt());
    }
}
