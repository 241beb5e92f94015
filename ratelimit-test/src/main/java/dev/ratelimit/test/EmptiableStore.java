package dev.ratelimit.test;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import java.time.InstantSource;
import java.util.List;

/** A store in memory that is emptied at once: a call of an earlier test that comes late changes nothing. */
final class EmptiableStore implements LimitStore {

    private final InstantSource clock;
    private volatile MemoryLimitStore store;

    EmptiableStore(InstantSource clock) {
        this.clock = clock;
        this.store = new MemoryLimitStore(clock);
    }

    void empty() {
        store = new MemoryLimitStore(clock);
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        return store.decide(group);
    }

    @Override
    public boolean answersInTime() {
        return true;
    }

    @Override
    public InstantSource clock() {
        return clock;
    }

    @Override
    public Pruned prune(long keepMicros) {
        return store.prune(keepMicros);
    }

    @Override
    public void close() {}
}
