package dev.ratelimit.autoconfigure;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** A store with the pool that was opened for it alone, and that is closed with it. */
record OwnedStore(LimitStore store, Closeable pool) implements LimitStore {

    @Override
    public List<Answer> decide(List<Operation> group) {
        return store.decide(group);
    }

    @Override
    public boolean answersInTime() {
        return store.answersInTime();
    }

    @Override
    public boolean isOnRealTime() {
        return store.isOnRealTime();
    }

    @Override
    public Pruned prune(long keepMicros) {
        return store.prune(keepMicros);
    }

    @Override
    public void close() {
        store.close();
        try {
            pool.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
