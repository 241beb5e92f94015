package dev.ratelimit.engine;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A store in memory that counts how often it is asked. */
final class CountingStore implements LimitStore {

    private final MemoryLimitStore store;
    private final AtomicInteger asked = new AtomicInteger();
    private volatile Runnable afterDeciding = () -> {};

    CountingStore(InstantSource clock) {
        this.store = new MemoryLimitStore(clock);
    }

    /** How many operations it was asked to decide. */
    int asked() {
        return asked.get();
    }

    /** Is run after a group was decided and before anybody is told. */
    void afterDeciding(Runnable work) {
        afterDeciding = work;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        asked.addAndGet(group.size());
        List<Answer> answers = store.decide(group);
        afterDeciding.run();
        return answers;
    }

    @Override
    public boolean answersInTime() {
        return true;
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
