package dev.ratelimit.store;

import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Forwards all calls to another store. A subclass adds to some of them, and its callers are always put into groups. */
public abstract class ForwardingLimitStore implements LimitStore {

    private final LimitStore store;

    protected ForwardingLimitStore(LimitStore store) {
        this.store = store;
    }

    /** The store that calls are forwarded to. */
    public final LimitStore target() {
        return store;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        return store.decide(group);
    }

    @Override
    public boolean answersInTime() {
        return store.answersInTime();
    }

    @Override
    public int groupsAtOnce() {
        return store.groupsAtOnce();
    }

    @Override
    public int part(StateKey key) {
        return store.part(key);
    }

    @Override
    public boolean isContended(StateKey key) {
        return store.isContended(key);
    }

    @Override
    public @Nullable InstantSource clock() {
        return store.clock();
    }

    @Override
    public Pruned prune(long keepMicros) {
        return store.prune(keepMicros);
    }

    @Override
    public void close() {
        store.close();
    }
}
