package dev.ratelimit.store;

import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Operation.Demand;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Decides operations one after another, all at the same moment, on rows that a store holds.
 *
 * <ol>
 *   <li>Each demand of the operation is checked against the state of its row; nothing is changed yet.
 *   <li>If all have room, all are charged.
 *   <li>If not, and no subject is under a penalty, each limit with penalties that had no room counts a violation, which
 *       may begin a penalty. Requests under a penalty neither count nor extend.
 *   <li>A denied request writes no state, unless a penalty begins, a debt was charged or the clock was set back.
 * </ol>
 */
public final class GroupArithmetic {

    /** The rows that the group works on, held exclusively until the group is done. */
    public interface Rows {

        /** The state, {@link State#FRESH} if there is none. */
        State state(StateKey key);

        void write(StateKey key, State state);

        /** The violations, {@link Violations#NONE} if there are none. */
        Violations violations(StateKey key);

        void write(StateKey key, Violations violations);

        /** Removes state and violations. */
        void remove(StateKey key);
    }

    private final Rows rows;
    private final long now;

    public GroupArithmetic(Rows rows, long now) {
        this.rows = rows;
        this.now = now;
    }

    public List<Answer> decide(List<Operation> group) {
        List<Answer> answers = new ArrayList<>(group.size());
        for (Operation operation : group) {
            answers.add(decide(operation));
        }
        return answers;
    }

    public Answer decide(Operation operation) {
        List<Demand> demands = operation.demands();
        if (operation.kind() == Operation.Kind.DECIDE && demands.size() == 1) {
            return decide(demands.get(0));
        }
        return new Answer(
                now,
                switch (operation.kind()) {
                    case DECIDE -> decideAll(demands);
                    case PEEK -> peek(demands);
                    case SETTLE -> settle(demands);
                    case RESET -> reset(demands);
                    case VIOLATE -> violate(demands);
                });
    }

    public Answer decide(Demand demand) {
        return new Answer(now, decideOne(demand));
    }

    private Verdict decideOne(Demand demand) {
        Check check = check(demand);
        return decided(demand, check, check.allowed(), check.blocked());
    }

    private List<Verdict> decideAll(List<Demand> demands) {
        List<Check> checks = new ArrayList<>(demands.size());
        boolean allowed = true;
        boolean blocked = false;
        for (Demand demand : demands) {
            Check check = check(demand);
            checks.add(check);
            allowed &= check.allowed();
            blocked |= check.blocked();
        }
        List<Verdict> verdicts = new ArrayList<>(checks.size());
        for (int i = 0; i < checks.size(); i++) {
            verdicts.add(decided(demands.get(i), checks.get(i), allowed, blocked));
        }
        return verdicts;
    }

    /**
     * @param allowed whether every limit of the operation has room
     * @param blocked whether any subject of the operation is under a penalty
     */
    private Verdict decided(Demand demand, Check check, boolean allowed, boolean blocked) {
        if (allowed) {
            return write(demand, check, check.charged());
        }
        return check.allowed() ? left(demand, check) : denied(demand, check, blocked);
    }

    /**
     * @param blocked whether a subject of the operation is under a penalty, so that nothing is counted
     */
    private Verdict denied(Demand demand, Check check, boolean blocked) {
        if (demand.limit().penalties().isEmpty()) {
            return left(demand, check);
        }
        Violations before = rows.violations(demand.key());
        return blocked ? left(demand, check).counted(check.violations(before)) : violated(demand, check, before);
    }

    private Verdict violated(Demand demand, Check check, Violations before) {
        Violations violations = check.violation(before);
        rows.write(demand.key(), violations);
        Verdict verdict =
                violations.penalized() ? write(demand, check, check.penalized(violations)) : left(demand, check);
        return verdict.counted(violations.count());
    }

    private Verdict write(Demand demand, Check check, State state) {
        rows.write(demand.key(), state);
        return check.verdict(state);
    }

    private Verdict left(Demand demand, Check check) {
        if (check.mustBeWritten()) {
            rows.write(demand.key(), check.unchanged());
        }
        return check.verdict();
    }

    private List<Verdict> peek(List<Demand> demands) {
        List<Verdict> verdicts = new ArrayList<>(demands.size());
        for (Demand demand : demands) {
            verdicts.add(peek(demand));
        }
        return verdicts;
    }

    private Verdict peek(Demand demand) {
        Check check = check(demand);
        return check.allowed() || demand.limit().penalties().isEmpty()
                ? check.verdict()
                : check.verdict().counted(check.violations(rows.violations(demand.key())));
    }

    private List<Verdict> settle(List<Demand> demands) {
        List<Verdict> verdicts = new ArrayList<>(demands.size());
        for (Demand demand : demands) {
            Check check = check(demand);
            Charge charge = Objects.requireNonNull(demand.charge());
            boolean nothing = charge.cost() == 0 && demand.cost() == 0;
            verdicts.add(
                    nothing || check.ofOtherNumbers()
                            ? left(demand, check)
                            : write(demand, check, check.settled(charge)));
        }
        return verdicts;
    }

    private List<Verdict> reset(List<Demand> demands) {
        demands.forEach(demand -> rows.remove(demand.key()));
        return peek(demands);
    }

    private List<Verdict> violate(List<Demand> demands) {
        List<Verdict> verdicts = new ArrayList<>(demands.size());
        for (Demand demand : demands) {
            Check check = check(demand);
            verdicts.add(denied(demand, check, check.blocked()));
        }
        return verdicts;
    }

    private Check check(Demand demand) {
        return Check.of(demand.limit(), rows.state(demand.key()), now, demand.cost(), demand.debt());
    }
}
