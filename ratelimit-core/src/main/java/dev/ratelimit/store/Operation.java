package dev.ratelimit.store;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Debt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call of one caller: the same thing on one limit or several, each with its own subject.
 *
 * @param demands no two with the same subject and limit
 */
public record Operation(Kind kind, List<Demand> demands) {

    public Operation {
        demands = List.copyOf(demands);
    }

    public enum Kind {
        /** Charge all limits if all have room, else none. */
        DECIDE,
        /** Give the answer of DECIDE, and change nothing. */
        PEEK,
        /** Change earlier charges to another cost. */
        SETTLE,
        /** Forget counts, violations and penalties. */
        RESET,
        /** Count a violation on each limit with penalties, unless its subject is under one. Charge nothing. */
        VIOLATE
    }

    /**
     * One limit of the call.
     *
     * @param key the key of the state: subject and name of the limit
     * @param cost how much to charge: at least one and no more than the limit can grant; zero is possible in SETTLE
     * @param charge in SETTLE, the charge to change; else {@code null}
     * @param debt charged first, whether or not it has room; or {@code null}
     */
    public record Demand(
            Subject subject,
            Limit limit,
            StateKey key,
            long cost,
            @Nullable Charge charge,
            @Nullable Debt debt) {

        public Demand(Subject subject, Limit limit, long cost) {
            this(subject, limit, StateKey.of(subject, limit.name()), cost, null, null);
        }

        /** A settlement. */
        public Demand(Subject subject, Limit limit, long cost, Charge charge) {
            this(subject, limit, StateKey.of(subject, limit.name()), cost, charge, null);
        }

        /** The same demand, which charges a debt first. */
        public Demand withDebt(Debt owed) {
            return new Demand(subject, limit, key, cost, charge, owed);
        }

        /** The same demand on the share of one instance. */
        public Demand of(Limit share) {
            return new Demand(subject, share, key, cost, charge, debt);
        }
    }
}
