package dev.ratelimit.store;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps state in the memory of this process: the reference that the other stores are held equal to.
 *
 * <ol>
 *   <li>Each key has a cell with a lock of its own.
 *   <li>A call locks the cells of its keys, in the order of the keys.
 *   <li>It reads the clock after the last lock, and decides.
 *   <li>A cell is removed only under its lock. A call that has locked a removed cell begins again.
 * </ol>
 */
public final class MemoryLimitStore implements LimitStore {

    private static final int ROWS_PER_PRUNE = 10_000;

    private final InstantSource clock;
    private final @Nullable InstantSource givenClock;
    private final ConcurrentHashMap<StateKey, Cell> cells = new ConcurrentHashMap<>();
    private final ReentrantLock pruning = new ReentrantLock();
    private @Nullable Iterator<Map.Entry<StateKey, Cell>> toPrune;

    public MemoryLimitStore() {
        this.clock = InstantSource.system();
        this.givenClock = null;
    }

    public MemoryLimitStore(InstantSource clock) {
        this.clock = clock;
        this.givenClock = clock;
    }

    /** The state and the violations of one key. All but the lock is guarded by it. */
    private static final class Cell extends ReentrantLock implements GroupArithmetic.Rows {

        private static final long serialVersionUID = 1L;

        private transient State state = State.FRESH;
        private transient Violations violations = Violations.NONE;
        private boolean removed;

        @Override
        public State state(StateKey key) {
            return state;
        }

        @Override
        public void write(StateKey key, State next) {
            state = next;
        }

        @Override
        public Violations violations(StateKey key) {
            return violations;
        }

        @Override
        public void write(StateKey key, Violations next) {
            violations = next;
        }

        @Override
        public void remove(StateKey key) {
            state = State.FRESH;
            violations = Violations.NONE;
        }

        boolean forgetState(long before) {
            boolean forgotten = !state.isFresh() && state.expiresAt() < before;
            if (forgotten) {
                state = State.FRESH;
            }
            return forgotten;
        }

        boolean forgetViolations(long before) {
            boolean forgotten = !violations.isNone() && violations.forgetAt() < before;
            if (forgotten) {
                violations = Violations.NONE;
            }
            return forgotten;
        }

        boolean isEmpty() {
            return state.isFresh() && violations.isNone();
        }
    }

    @Override
    public @Nullable InstantSource clock() {
        return givenClock;
    }

    /** Each call works on its own keys: there is nothing to gain by putting calls together. */
    @Override
    public boolean isImmediate() {
        return true;
    }

    @Override
    public boolean answersInTime() {
        return true;
    }

    @Override
    public Answer decide(Operation operation) {
        return operation.demands().size() == 1
                ? decideOne(operation, operation.demands().get(0).key())
                : decide(List.of(operation)).get(0);
    }

    @Override
    public Answer decide(Demand demand) {
        Cell cell = lock(demand.key());
        try {
            return new GroupArithmetic(cell, Micros.of(clock.instant())).decide(demand);
        } finally {
            cell.unlock();
        }
    }

    private Answer decideOne(Operation operation, StateKey key) {
        Cell cell = lock(key);
        try {
            Answer answer = new GroupArithmetic(cell, Micros.of(clock.instant())).decide(operation);
            if (operation.kind() != Kind.DECIDE) {
                removeIfEmpty(key, cell);
            }
            return answer;
        } finally {
            cell.unlock();
        }
    }

    @SuppressWarnings("LockNotBeforeTry") // the caller unlocks it
    private Cell lock(StateKey key) {
        while (true) {
            Cell cell = cells.get(key);
            if (cell == null) {
                cell = cells.computeIfAbsent(key, absent -> new Cell());
            }
            cell.lock();
            if (!cell.removed) {
                return cell;
            }
            cell.unlock();
        }
    }

    private void removeIfEmpty(StateKey key, Cell cell) {
        if (cell.isEmpty()) {
            cell.removed = true;
            cells.remove(key, cell);
        }
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        HeldCells held = new HeldCells();
        try {
            held.lockAll(group);
            return new GroupArithmetic(held, Micros.of(clock.instant())).decide(group);
        } finally {
            held.release();
        }
    }

    /** The locked cells of a call, in the order of their keys. */
    private final class HeldCells implements GroupArithmetic.Rows {

        private final TreeMap<StateKey, @Nullable Cell> byKey = new TreeMap<>();

        void lockAll(List<Operation> group) {
            for (Operation operation : group) {
                for (Demand demand : operation.demands()) {
                    byKey.put(demand.key(), null);
                }
            }
            for (Map.Entry<StateKey, @Nullable Cell> entry : byKey.entrySet()) {
                entry.setValue(lock(entry.getKey()));
            }
        }

        void release() {
            byKey.forEach((key, cell) -> {
                if (cell != null) {
                    removeIfEmpty(key, cell);
                    cell.unlock();
                }
            });
        }

        private Cell cell(StateKey key) {
            return Objects.requireNonNull(byKey.get(key));
        }

        @Override
        public State state(StateKey key) {
            return cell(key).state;
        }

        @Override
        public void write(StateKey key, State state) {
            cell(key).state = state;
        }

        @Override
        public Violations violations(StateKey key) {
            return cell(key).violations;
        }

        @Override
        public void write(StateKey key, Violations violations) {
            cell(key).violations = violations;
        }

        @Override
        public void remove(StateKey key) {
            cell(key).remove(key);
        }
    }

    @Override
    public Pruned prune(long keepMicros) {
        if (!pruning.tryLock()) {
            return Pruned.NOTHING_WHILE_BUSY;
        }
        try {
            Iterator<Map.Entry<StateKey, Cell>> rows =
                    toPrune != null ? toPrune : cells.entrySet().iterator();
            long before = Micros.of(clock.instant()) - keepMicros;
            long states = 0;
            long penalties = 0;
            for (int i = 0; i < ROWS_PER_PRUNE && rows.hasNext(); i++) {
                Map.Entry<StateKey, Cell> row = rows.next();
                Cell cell = row.getValue();
                if (cell.tryLock()) { // a cell that somebody holds is live
                    try {
                        states += cell.forgetState(before) ? 1 : 0;
                        penalties += cell.forgetViolations(before) ? 1 : 0;
                        removeIfEmpty(row.getKey(), cell);
                    } finally {
                        cell.unlock();
                    }
                }
            }
            toPrune = rows.hasNext() ? rows : null;
            return new Pruned(
                    states,
                    penalties,
                    toPrune == null ? Progress.FINISHED : Pruned.more(states + penalties, ROWS_PER_PRUNE));
        } finally {
            pruning.unlock();
        }
    }

    /** The state of a key as it is stored. */
    @Nullable
    State state(StateKey key) {
        Cell cell = cells.get(key);
        return cell == null || cell.state.isFresh() ? null : cell.state;
    }

    @Nullable
    Violations violations(StateKey key) {
        Cell cell = cells.get(key);
        return cell == null || cell.violations.isNone() ? null : cell.violations;
    }

    @Override
    public void close() {}
}
