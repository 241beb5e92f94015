package dev.ratelimit.store;

import dev.ratelimit.store.shard.Shard;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.test.store.LimitStoreHistories;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Random groups over shards in memory: the answers are those of one store. */
class ShardedMemoryHistoriesTest extends LimitStoreHistories {

    private final List<Emptiable> stores = new ArrayList<>();

    /** A store in memory that can be emptied. */
    private static final class Emptiable extends ForwardingLimitStore {

        private final InstantSource clock;
        private LimitStore current;

        Emptiable(InstantSource clock) {
            super(new MemoryLimitStore(clock));
            this.clock = clock;
            empty();
        }

        void empty() {
            current = new MemoryLimitStore(clock);
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            return current.decide(group);
        }

        @Override
        public @Nullable InstantSource clock() {
            return clock;
        }
    }

    @Override
    protected LimitStore open(InstantSource time) {
        List<Shard> shards = new ArrayList<>();
        for (String name : ShardedMemoryTest.NAMES) {
            Emptiable store = new Emptiable(time);
            stores.add(store);
            shards.add(new Shard(name, store));
        }
        return new ShardedLimitStore(shards, ShardedMemoryTest.LONG);
    }

    @Override
    protected void clear() {
        stores.forEach(Emptiable::empty);
    }
}
