package dev.ratelimit.store;

import dev.ratelimit.algorithm.Check;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Operation.Demand;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Decides a group in Java, for the stores that do not decide in the database. The function of the PostgreSQL store does
 * the same, step by step:
 *
 * <ol>
 *   <li>Each demand of the operation is checked against the state of its row; nothing is changed yet.
 *   <li>If all have room, all are charged.
 *   <li>If not, and no subject is under a penalty, each limit with penalties that had no room counts a violation, which
 *       may begin a penalty. Requests under a penalty neither count nor extend.
 *   <li>A denied request writes no state, unless a penalty begins or the clock was set back.
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
            List<Demand> demands = operation.demands();
            answers.add(new Answer(
                    now,
                    switch (operation.kind()) {
                        case DECIDE -> decideAll(demands);
                        case PEEK -> verdicts(checks(demands));
                        case SETTLE -> settle(demands);
                        case RESET -> reset(demands);
                    }));
        }
        return answers;
    }

    private List<Verdict> decideAll(List<Demand> demands) {
        List<Check> checks = checks(demands);
        boolean allowed = true;
        boolean blocked = false;
        for (Check check : checks) {
            allowed &= check.allowed();
            blocked |= check.blocked();
        }
        List<Verdict> verdicts = new ArrayList<>(checks.size());
        for (int i = 0; i < checks.size(); i++) {
            Demand demand = demands.get(i);
            Check check = checks.get(i);
            if (allowed) {
                verdicts.add(charge(demand, check));
            } else if (blocked || check.allowed() || demand.limit().penalties().isEmpty()) {
                verdicts.add(leave(demand, check));
            } else {
                verdicts.add(violate(demand, check));
            }
        }
        return verdicts;
    }

    private Verdict charge(Demand demand, Check check) {
        State charged = check.charged();
        rows.write(demand.key(), charged);
        return check.verdict(charged);
    }

    private Verdict leave(Demand demand, Check check) {
        if (check.clockWasSetBack()) {
            rows.write(demand.key(), check.unchanged());
        }
        return check.verdict();
    }

    private Verdict violate(Demand demand, Check check) {
        Violations violations = check.violation(rows.violations(demand.key()));
        rows.write(demand.key(), violations);
        if (!violations.penalized()) {
            return leave(demand, check);
        }
        State penalized = check.penalized(violations);
        rows.write(demand.key(), penalized);
        return check.verdict(penalized);
    }

    private List<Verdict> settle(List<Demand> demands) {
        List<Verdict> verdicts = new ArrayList<>(demands.size());
        for (Demand demand : demands) {
            Check check = check(demand);
            if (check.ofOtherNumbers()) {
                verdicts.add(leave(demand, check));
                continue;
            }
            State settled = check.settled(Objects.requireNonNull(demand.charge()));
            rows.write(demand.key(), settled);
            verdicts.add(check.verdict(settled));
        }
        return verdicts;
    }

    private List<Verdict> reset(List<Demand> demands) {
        demands.forEach(demand -> rows.remove(demand.key()));
        return verdicts(checks(demands));
    }

    private List<Check> checks(List<Demand> demands) {
        List<Check> checks = new ArrayList<>(demands.size());
        for (Demand demand : demands) {
            checks.add(check(demand));
        }
        return checks;
    }

    private Check check(Demand demand) {
        return Check.of(demand.limit(), rows.state(demand.key()), now, demand.cost());
    }

    private static List<Verdict> verdicts(List<Check> checks) {
        List<Verdict> verdicts = new ArrayList<>(checks.size());
        for (Check check : checks) {
            verdicts.add(check.verdict());
        }
        return verdicts;
    }
}
