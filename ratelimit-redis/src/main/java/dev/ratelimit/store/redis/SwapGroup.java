package dev.ratelimit.store.redis;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.redis.Unit.Result;
import dev.ratelimit.store.swap.Backoff;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One call of the store. It decides in rounds:
 *
 * <ol>
 *   <li>All operations are decided here, on the values as far as they are known, for the time that the servers probably have.
 *   <li>The new values are sent to the servers, which write those whose old ones are as they were known, and say what the
 *       others are.
 *   <li>Operations on those others are decided again, in the next round. After every second lost round, it waits a little.
 *   <li>An operation that one slot has denied is not decided again. If a lost row would deny it too, or has a debt, only the
 *       violation is counted there, and the debt charged, in the next round.
 * </ol>
 *
 * So the first round is also the read of the values that other processes have changed. Not thread-safe.
 */
final class SwapGroup implements GroupArithmetic.Rows {

    /** About as long as a call takes. */
    private static final Duration FIRST_PAUSE = Duration.ofNanos(200_000);

    private final Map<StateKey, Row> rows = new HashMap<>();
    private final List<List<Task>> byOperation = new ArrayList<>();
    private final List<Operation> group;
    private final SwapCalls calls;

    /**
     * @param row makes the row of a key
     */
    SwapGroup(List<Operation> group, SwapCalls calls, RowMaker row) {
        this.group = group;
        this.calls = calls;
        for (Operation operation : group) {
            byOperation.add(tasks(operation, row));
        }
    }

    /** Makes the row of a key. */
    interface RowMaker {
        Row row(StateKey key);
    }

    /** Only a decision depends on all of its demands; the others may be done one by one. */
    private List<Task> tasks(Operation operation, RowMaker maker) {
        List<Row> its = new ArrayList<>(operation.demands().size());
        for (Demand demand : operation.demands()) {
            its.add(rows.computeIfAbsent(demand.key(), maker::row));
        }
        if (operation.kind() == Kind.DECIDE || its.size() == 1) {
            return List.of(new Task(operation, its));
        }
        List<Task> parts = new ArrayList<>(its.size());
        for (int i = 0; i < its.size(); i++) {
            Operation part =
                    new Operation(operation.kind(), List.of(operation.demands().get(i)));
            parts.add(new Task(part, List.of(its.get(i))));
        }
        return parts;
    }

    /**
     * @param moments finds the time of each round
     * @param longest the time after which to give up
     */
    void decide(Moments moments, Duration longest) {
        long deadlineNanos = System.nanoTime() + longest.toNanos();
        // A command without the time for its answer would look as if the server were silent.
        long lastRoundNanos = longest.toNanos() / 10;
        Backoff backoff = Backoff.inPairsWithin(longest, FIRST_PAUSE);
        List<Task> open = new ArrayList<>();
        byOperation.forEach(open::addAll);
        boolean isScriptKnown = true;
        boolean isTimeLeft = true;
        while (!open.isEmpty() && isTimeLeft) {
            Moments.Round round = moments.next(open);
            decideHere(round);
            List<Swap> swaps = swaps(round.tasks());
            isScriptKnown = calls.run(swaps, round.now(), isScriptKnown, deadlineNanos);
            open = stillOpen(open, round);
            if (!open.isEmpty()) {
                isTimeLeft =
                        (!isAnyUndone(swaps) || backoff.again()) && deadlineNanos - System.nanoTime() > lastRoundNanos;
            }
        }
        for (Task task : open) {
            task.fail(SwapFailure.ofKeys(
                    task.isRefused()
                            ? "the server refused the moment of the decision: no clock of a server may differ"
                                    + " from another by a second"
                            : "no swap succeeded in time, after " + backoff.lost() + " tries: " + task.obstacle()));
        }
    }

    /** Puts the tasks first that had to wait for another round. */
    private List<Task> stillOpen(List<Task> open, Moments.Round round) {
        List<Task> still = new ArrayList<>();
        if (round.tasks().size() < open.size()) {
            still.addAll(open);
            still.removeAll(round.tasks());
        }
        for (Task task : round.tasks()) {
            if (!task.isDone(knownValues, round.now())) {
                still.add(task);
            } else if (task.isFollowed()) {
                still.addAll(task.later());
            }
        }
        return still;
    }

    private void decideHere(Moments.Round round) {
        for (Task task : round.tasks()) {
            task.rows().forEach(Row::begin);
        }
        GroupArithmetic arithmetic = new GroupArithmetic(this, round.now());
        for (Task task : round.tasks()) {
            task.giveBack(arithmetic);
        }
        for (Task task : round.tasks()) {
            task.decide(arithmetic);
            task.joinUnits();
        }
    }

    /** One for each slot, or several if there are many rows. */
    private static List<Swap> swaps(List<Task> open) {
        Map<Integer, Swap> bySlot = new LinkedHashMap<>();
        List<Swap> swaps = new ArrayList<>();
        for (Task task : open) {
            for (Row row : task.rows()) {
                Unit unit = row.unit;
                if (unit.result() == Result.KNOWN && unit.needsServer()) {
                    Swap swap = bySlot.get(unit.slot());
                    if (swap == null || swap.isFull()) {
                        swap = new Swap(unit.slot());
                        bySlot.put(unit.slot(), swap);
                        swaps.add(swap);
                    }
                    swap.add(unit);
                    unit.end(Result.REFUSED); // until the server has answered
                }
            }
        }
        return swaps;
    }

    private static boolean isAnyUndone(List<Swap> swaps) {
        for (Swap swap : swaps) {
            for (Unit unit : swap.units()) {
                if (unit.result() == Result.LOST || unit.result() == Result.REFUSED) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The tasks that failed. */
    List<Task> failed() {
        return byOperation.stream()
                .flatMap(List::stream)
                .filter(task -> task.failure() != null)
                .toList();
    }

    /**
     * Whether a part of an operation failed, and another part of it was done. Then nobody may say that nothing was changed: a
     * refund would be made twice.
     */
    boolean isAnyHalfDone() {
        for (int i = 0; i < group.size(); i++) {
            long failed = byOperation.get(i).stream()
                    .filter(task -> task.failure() != null)
                    .count();
            if (group.get(i).kind() != Kind.PEEK
                    && failed > 0
                    && failed < byOperation.get(i).size()) {
                return true;
            }
        }
        return false;
    }

    /** All tasks, to see what they still owe. */
    List<Demand> owed() {
        List<Demand> owed = new ArrayList<>();
        for (List<Task> tasks : byOperation) {
            for (Task task : tasks) {
                owed.addAll(task.owed());
            }
        }
        return owed;
    }

    /** In the order of the group, {@code null} where an operation was not decided. */
    List<@Nullable Answer> answers() {
        List<@Nullable Answer> answers = new ArrayList<>(group.size());
        for (List<Task> tasks : byOperation) {
            answers.add(answer(tasks));
        }
        return answers;
    }

    private static @Nullable Answer answer(List<Task> tasks) {
        List<Verdict> verdicts = new ArrayList<>(tasks.size());
        for (Task task : tasks) {
            if (task.failure() != null) {
                return null;
            }
            verdicts.addAll(task.answer().verdicts());
        }
        return tasks.size() == 1
                ? tasks.get(0).answer()
                : new Answer(tasks.get(tasks.size() - 1).answer().now(), verdicts);
    }

    private Row row(StateKey key) {
        return Objects.requireNonNull(rows.get(key));
    }

    @Override
    public State state(StateKey key) {
        return row(key).state();
    }

    @Override
    public void write(StateKey key, State state) {
        row(key).write(state);
    }

    @Override
    public Violations violations(StateKey key) {
        return row(key).violations();
    }

    @Override
    public void write(StateKey key, Violations violations) {
        row(key).write(violations);
    }

    @Override
    public void remove(StateKey key) {
        row(key).remove();
    }

    /** The values as the servers said them, to look at. */
    private final GroupArithmetic.Rows knownValues = new GroupArithmetic.Rows() {

        @Override
        public State state(StateKey key) {
            return row(key).known().state();
        }

        @Override
        public Violations violations(StateKey key) {
            return row(key).known().violations();
        }

        @Override
        public void write(StateKey key, State state) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void write(StateKey key, Violations violations) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void remove(StateKey key) {
            throw new UnsupportedOperationException();
        }
    };
}
