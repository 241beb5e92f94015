package dev.ratelimit.store;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Charge;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one caller asks of a store: the same thing on one limit or several, each with its own subject.
 *
 * @param demands no two with the same subject and limit
 */
public record Operation(Kind kind, List<Demand> demands) {

    public Operation {
        demands = List.copyOf(demands);
    }

    public enum Kind {
        /** Charge all limits if all have room, else none. */
        DECIDE(0),
        /** Say what DECIDE would, and change nothing. */
        PEEK(1),
        /** Change earlier charges to another cost. */
        SETTLE(2),
        /** Forget counts, violations and penalties. */
        RESET(3);

        private final short code;

        Kind(int code) {
            this.code = (short) code;
        }

        /** The number by which stored functions know the kind; it never changes. */
        public short code() {
            return code;
        }
    }

    /**
     * @param cost what to charge: at least one and no more than the limit can grant; zero is possible in SETTLE
     * @param charge in SETTLE, the charge to change; else {@code null}
     */
    public record Demand(
            Subject subject,
            Limit limit,
            long cost,
            @Nullable Charge charge) {

        public Demand(Subject subject, Limit limit, long cost) {
            this(subject, limit, cost, null);
        }

        public StateKey key() {
            return StateKey.of(subject, limit.name());
        }
    }
}
