package dev.ratelimit.store.swap;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.GroupArithmetic;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.swap.SwapChange.Counted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operations of a group that share keys, directly or through others: they are decided and written together. Not thread-safe. */
final class SwapPart {

    private final List<Integer> places = new ArrayList<>();
    private final List<Operation> operations = new ArrayList<>();
    private final Set<StateKey> keys = new LinkedHashSet<>();
    private List<Answer> answers = List.of();
    private @Nullable SwapChange change;

    /**
     * @param place its place in the group
     */
    void add(int place, Operation operation) {
        places.add(place);
        operations.add(operation);
        operation.demands().forEach(demand -> keys.add(demand.key()));
    }

    Set<StateKey> keys() {
        return keys;
    }

    /** Whether the last change that was tried is stored: the row says so, even if the store did not. */
    boolean isStored(SwapSnapshot snapshot) {
        SwapChange tried = change;
        return tried != null
                && tried.rows().stream().anyMatch(row -> snapshot.row(row.key()).version() == tried.versionOf(row));
    }

    /**
     * Decides the operations on rows that were just read.
     *
     * @return the change to write, or {@code null} if nothing changes
     */
    @Nullable
    SwapChange decide(SwapSnapshot snapshot, long mark) {
        Rows rows = new Rows(snapshot);
        answers = new GroupArithmetic(rows, snapshot.now()).decide(operations);
        change = rows.change(mark);
        return change;
    }

    @Nullable
    SwapChange change() {
        return change;
    }

    void answer(@Nullable Answer[] group) {
        for (int i = 0; i < places.size(); i++) {
            group[places.get(i)] = answers.get(i);
        }
    }

    private final class Rows implements GroupArithmetic.Rows {

        private final SwapSnapshot snapshot;
        private final Map<StateKey, State> states = new HashMap<>();
        private final Map<StateKey, Violations> violations = new HashMap<>();

        private Rows(SwapSnapshot snapshot) {
            this.snapshot = snapshot;
        }

        @Override
        public State state(StateKey key) {
            State written = states.get(key);
            return written == null ? snapshot.row(key).state() : written;
        }

        @Override
        public void write(StateKey key, State state) {
            states.put(key, state);
        }

        @Override
        public Violations violations(StateKey key) {
            Violations written = violations.get(key);
            return written == null ? snapshot.row(key).violations() : written;
        }

        @Override
        public void write(StateKey key, Violations counted) {
            violations.put(key, counted);
        }

        /** The row stays, without a state: a write that has read it before must not win. It expires at once. */
        @Override
        public void remove(StateKey key) {
            states.put(key, State.FRESH);
            violations.put(key, Violations.NONE);
        }

        /** Violations never change without the version of the state. */
        private @Nullable SwapChange change(long mark) {
            List<SwapChange.Row> rows = new ArrayList<>();
            for (StateKey key : keys) {
                if (states.containsKey(key) || violations.containsKey(key)) {
                    rows.add(new SwapChange.Row(key, snapshot.row(key), state(key), violations(key), counted(key)));
                }
            }
            return rows.isEmpty() ? null : new SwapChange(rows, mark);
        }

        private Counted counted(StateKey key) {
            if (!violations.containsKey(key)) {
                return Counted.SAME;
            }
            return violations(key).isNone() ? Counted.NONE : Counted.MORE;
        }
    }
}
