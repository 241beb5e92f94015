package dev.ratelimit.store.move;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.test.store.LimitStoreHistories;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Two stores that are empty at the start answer as one does. */
class MovingHistoriesTest extends LimitStoreHistories {

    private final Emptied previous = new Emptied();
    private final Emptied current = new Emptied();
    private @Nullable InstantSource clock;

    @Override
    protected LimitStore open(InstantSource time) {
        clock = time;
        clear();
        return new MovingLimitStore(previous, current);
    }

    @Override
    protected void clear() {
        previous.store = new MemoryLimitStore(Objects.requireNonNull(clock));
        current.store = new MemoryLimitStore(Objects.requireNonNull(clock));
    }

    /** A store that is replaced by an empty one. */
    private static final class Emptied implements LimitStore {

        private LimitStore store = new MemoryLimitStore();

        @Override
        public List<Answer> decide(List<Operation> group) {
            return store.decide(group);
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
}
