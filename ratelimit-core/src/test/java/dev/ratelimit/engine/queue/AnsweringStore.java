package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import java.util.List;
import java.util.function.Consumer;

/** Says yes at once, after it has done something with the group. */
public final class AnsweringStore implements LimitStore {

    private final Consumer<List<Operation>> before;

    public AnsweringStore(Consumer<List<Operation>> before) {
        this.before = before;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        before.accept(group);
        return HeldStore.yes(group);
    }

    @Override
    public boolean answersInTime() {
        return true;
    }

    @Override
    public Pruned prune(long keepMicros) {
        return Pruned.NOTHING_WHILE_BUSY;
    }

    @Override
    public void close() {}
}
