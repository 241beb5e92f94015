package dev.ratelimit.store.redis;

import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.redis.Unit.Result;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An operation on its way through the rounds of a call. If its rows are in several slots, one of them may be written and another one
 * lost. Then the charge that was written is given back, and the operation is decided again, in the next round.
 */
final class Task {

    private final Operation operation;
    private final List<Row> rows;
    private final boolean isInOneSlot;
    private @Nullable Answer answer;
    private @Nullable SwapFailure failure;

    /** Changes nothing; but it brings a debt. */
    private static final Charge NOTHING = new Charge(0, 0, 0);

    /** After a denial, by the number of the row: the violations and debts that were lost. */
    private Map<Integer, Task> later = Map.of();

    /** For each row the charge that it bears, to be given back before the operation is decided again. */
    private final @Nullable Charge[] charges;

    /**
     * @param rows one for each demand
     */
    Task(Operation operation, List<Row> rows) {
        this.operation = operation;
        this.rows = rows;
        this.isInOneSlot = rows.stream().allMatch(row -> row.slot == rows.get(0).slot);
        this.charges = new @Nullable Charge[rows.size()];
    }

    List<Row> rows() {
        return rows;
    }

    Answer answer() {
        Answer given = Objects.requireNonNull(answer);
        return isFollowed() ? withViolations(given) : given;
    }

    /** Tells of violations that were counted after the others. */
    private Answer withViolations(Answer given) {
        List<Verdict> verdicts = new ArrayList<>(given.verdicts());
        later.forEach((row, task) -> {
            if (task.failure == null && task.operation.kind() == Kind.VIOLATE) {
                verdicts.set(row, task.answer().first());
            }
        });
        return new Answer(given.now(), verdicts);
    }

    boolean isFollowed() {
        return !later.isEmpty();
    }

    /** The tasks that follow this one. If one of them fails, its violation is not counted. */
    Collection<Task> later() {
        return later.values();
    }

    /** A denial without all of its debts is none: the engine would forget them. */
    @Nullable
    SwapFailure failure() {
        if (failure == null && isFollowed()) {
            for (Task task : later.values()) {
                if (task.failure != null && task.operation.demands().get(0).debt() != null) {
                    return task.failure;
                }
            }
        }
        return failure;
    }

    /** The slots whose server failed. */
    List<Integer> failedSlots() {
        List<Integer> failed = new ArrayList<>();
        for (Row row : rows) {
            SwapFailure its = row.unit.failure();
            if (its != null && !its.isOfKeys()) {
                failed.add(row.slot);
            }
        }
        return failed;
    }

    /** The keys that stood in its way, although their server is well. */
    List<StateKey> failedKeys() {
        List<StateKey> failed = new ArrayList<>();
        for (Row row : rows) {
            SwapFailure its = row.unit.failure();
            StateKey bad = its == null ? null : its.key();
            if (bad != null) {
                failed.add(bad);
            } else if (row.isLost() && !row.unit.isDecided()) {
                failed.add(row.key);
            }
        }
        return failed;
    }

    /** Whether it failed without any change: nothing of it was written, and no charge is left. */
    boolean isSurelyUndone() {
        if (isFollowed()) {
            return false;
        }
        for (int i = 0; i < rows.size(); i++) {
            SwapFailure its = rows.get(i).unit.failure();
            if (charges[i] != null || (its != null && its.mayHaveWritten())) {
                return false;
            }
        }
        return true;
    }

    /** Whether a server has refused the moment that it was decided for. */
    boolean isRefused() {
        return rows.stream().anyMatch(row -> row.unit.result() == Result.REFUSED);
    }

    /** Why it was lost in the last round. */
    String obstacle() {
        for (Row row : rows) {
            String move = row.unit.move();
            if (move != null) {
                return "its slot is on the way to another server (" + move + ")";
            }
        }
        return "other processes change the same subjects, or this one is too busy";
    }

    void fail(SwapFailure cause) {
        this.failure = cause;
    }

    /** Gives back what a round before has charged. */
    void giveBack(GroupArithmetic arithmetic) {
        for (Demand owed : owed()) {
            arithmetic.decide(new Operation(Kind.SETTLE, List.of(owed)));
        }
    }

    /** The settlements that give back the charges that it bears. */
    List<Demand> owed() {
        if (isInOneSlot) {
            return List.of();
        }
        List<Demand> owed = new ArrayList<>();
        for (int i = 0; i < charges.length; i++) {
            Charge charge = charges[i];
            if (charge != null) {
                Demand demand = operation.demands().get(i);
                owed.add(new Demand(demand.subject(), demand.limit(), 0, charge.withInterval()));
            }
        }
        return owed;
    }

    void decide(GroupArithmetic arithmetic) {
        answer = arithmetic.decide(operation);
    }

    /** Rows of one slot are written together. */
    void joinUnits() {
        for (int i = 1; i < rows.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (rows.get(j).slot == rows.get(i).slot) {
                    rows.get(j).unit.join(rows.get(i).unit);
                    break;
                }
            }
        }
    }

    /**
     * Looks at the outcome of a round.
     *
     * @param known the values that the servers have said
     * @param now the moment of the round
     * @return whether the task is done, decided or failed; else it must be decided again
     */
    boolean isDone(GroupArithmetic.Rows known, long now) {
        boolean decided = true;
        for (Row row : rows) {
            decided &= row.unit.isDecided();
            SwapFailure its = row.unit.failure();
            if (its != null && (failure == null || failure.isOfKeys())) {
                failure = its; // rather that of a server than that of a key
            }
        }
        if (!isInOneSlot) {
            note(decided && failure == null);
        }
        return failure != null || decided || (!isInOneSlot && isDeniedAnyway(known, now));
    }

    /** Notes which rows bear a charge of this task, unless all do. A charge that may have been given back is not given back again. */
    private void note(boolean complete) {
        boolean allowed = operation.kind() == Kind.DECIDE && answer().allowed();
        for (int i = 0; i < rows.size(); i++) {
            Unit unit = rows.get(i).unit;
            SwapFailure its = unit.failure();
            if (unit.isDecided()) {
                charges[i] = allowed && !complete ? answer().verdicts().get(i).charge() : null;
            } else if (its != null && its.mayHaveWritten()) {
                charges[i] = null;
            }
        }
    }

    /**
     * One of the limits has no room, whatever the lost ones say. Their verdicts are taken from the values that were found. Their
     * violations and debts follow.
     */
    private boolean isDeniedAnyway(GroupArithmetic.Rows known, long now) {
        boolean denied = false;
        for (int i = 0; i < rows.size(); i++) {
            denied |=
                    rows.get(i).unit.isDecided() && !answer().verdicts().get(i).allowed();
        }
        if (!denied) {
            return false;
        }
        List<Verdict> verdicts = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            if (row.unit.isDecided()) {
                verdicts.add(answer().verdicts().get(i));
            } else {
                Operation peek =
                        new Operation(Kind.PEEK, List.of(operation.demands().get(i)));
                verdicts.add(new GroupArithmetic(known, now).decide(peek).first());
            }
        }
        answer = new Answer(answer().now(), verdicts);
        boolean counts = verdicts.stream().noneMatch(verdict -> verdict.outcome() == Outcome.BLOCKED);
        Map<Integer, Task> lost = new LinkedHashMap<>();
        for (int i = 0; i < rows.size(); i++) {
            if (!rows.get(i).unit.isDecided()) {
                Demand demand = operation.demands().get(i);
                boolean violates = counts
                        && charges[i] == null // else its own charge may be in the way
                        && !verdicts.get(i).allowed()
                        && !demand.limit().penalties().isEmpty();
                if (violates || demand.debt() != null) {
                    lost.put(i, new Task(violates ? violation(demand) : debt(demand), List.of(rows.get(i))));
                }
            }
        }
        later = lost;
        return true;
    }

    private static Operation violation(Demand demand) {
        return new Operation(Kind.VIOLATE, List.of(demand));
    }

    private static Operation debt(Demand demand) {
        return new Operation(
                Kind.SETTLE,
                List.of(new Demand(demand.subject(), demand.limit(), demand.key(), 0, NOTHING, demand.debt())));
    }
}
