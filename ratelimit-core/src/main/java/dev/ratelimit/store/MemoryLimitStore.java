package dev.ratelimit.store;

import dev.ratelimit.Micros;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.Pruned.Progress;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps state in the memory of this process: the reference that the other stores are held equal to. One lock orders all
 * groups; the clock is read while it is held.
 */
public final class MemoryLimitStore implements LimitStore {

    private static final int ROWS_PER_PRUNE = 10_000;

    private final InstantSource clock;
    private final boolean onRealTime;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<StateKey, State> states = new ConcurrentHashMap<>();
    private final Map<StateKey, Violations> violations = new ConcurrentHashMap<>();
    private final GroupArithmetic.Rows rows = new MemoryRows();

    private @Nullable Iterator<Map.Entry<StateKey, State>> statesToPrune;
    private @Nullable Iterator<Map.Entry<StateKey, Violations>> violationsToPrune;

    public MemoryLimitStore() {
        this(InstantSource.system(), true);
    }

    public MemoryLimitStore(InstantSource clock) {
        this(clock, false);
    }

    private MemoryLimitStore(InstantSource clock, boolean onRealTime) {
        this.clock = clock;
        this.onRealTime = onRealTime;
    }

    @Override
    public boolean isOnRealTime() {
        return onRealTime;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        lock.lock();
        try {
            return new GroupArithmetic(rows, Micros.of(clock.instant())).decide(group);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean answersInTime() {
        return true;
    }

    @Override
    public Pruned prune(long keepMicros) {
        if (!lock.tryLock()) {
            return Pruned.NOTHING_WHILE_BUSY;
        }
        try {
            long before = Micros.of(clock.instant()) - keepMicros;
            if (statesToPrune == null || violationsToPrune == null) {
                statesToPrune = states.entrySet().iterator();
                violationsToPrune = violations.entrySet().iterator();
            }
            long deletedStates = remove(statesToPrune, State::expiresAt, before);
            long deletedViolations = remove(violationsToPrune, Violations::forgetAt, before);
            boolean finished = !statesToPrune.hasNext() && !violationsToPrune.hasNext();
            if (finished) {
                statesToPrune = null;
                violationsToPrune = null;
            }
            return new Pruned(
                    deletedStates,
                    deletedViolations,
                    finished ? Progress.FINISHED : Pruned.more(deletedStates + deletedViolations, ROWS_PER_PRUNE));
        } finally {
            lock.unlock();
        }
    }

    private static <T> long remove(Iterator<Map.Entry<StateKey, T>> entries, ToLongFunction<T> expiry, long before) {
        long removed = 0;
        for (int i = 0; i < ROWS_PER_PRUNE && entries.hasNext(); i++) {
            if (expiry.applyAsLong(entries.next().getValue()) < before) {
                entries.remove();
                removed++;
            }
        }
        return removed;
    }

    /** The state of a key as it is stored. */
    @Nullable
    State state(StateKey key) {
        return states.get(key);
    }

    @Nullable
    Violations violations(StateKey key) {
        return violations.get(key);
    }

    @Override
    public void close() {}

    private final class MemoryRows implements GroupArithmetic.Rows {

        @Override
        public State state(StateKey key) {
            return states.getOrDefault(key, State.FRESH);
        }

        @Override
        public void write(StateKey key, State state) {
            states.put(key, state);
        }

        @Override
        public Violations violations(StateKey key) {
            return violations.getOrDefault(key, Violations.NONE);
        }

        @Override
        public void write(StateKey key, Violations counted) {
            violations.put(key, counted);
        }

        @Override
        public void remove(StateKey key) {
            states.remove(key);
            violations.remove(key);
        }
    }
}
