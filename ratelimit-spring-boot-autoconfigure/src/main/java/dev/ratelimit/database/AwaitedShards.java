package dev.ratelimit.database;

import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.shard.Shard;
import dev.ratelimit.store.shard.ShardTables;
import dev.ratelimit.store.shard.ShardedLimitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens shards, some of which may be unavailable at startup ({@code ratelimit.store.required: false}).
 *
 * <ol>
 *   <li>Each shard is opened, or awaited: see {@link AwaitedLimitStore}. Subjects of an awaited shard follow on-failure.
 *   <li>The store starts with the shards that are there.
 *   <li>An awaited shard that comes later joins: its database says first that it is the shard it is configured as. Only then it
 *       decides.
 * </ol>
 */
final class AwaitedShards {

    private final List<Shard> shards = new ArrayList<>();
    private @Nullable ShardedLimitStore store;

    /** Adds a shard, after a first attempt to open it. */
    void add(String name, Supplier<Shard> opening, int groupsAtOnce, Duration longest) {
        Tables tables = new Tables(name);
        LimitStore opened = AwaitedLimitStore.openShard(name, () -> join(opening.get(), tables), groupsAtOnce, longest);
        shards.add(new Shard(name, opened, tables));
    }

    private synchronized LimitStore join(Shard opened, Tables tables) {
        try {
            if (store != null) {
                store.join(opened);
            }
            tables.opened = opened.tables();
            return opened.store();
        } catch (RuntimeException e) {
            opened.store().close();
            throw e;
        }
    }

    /** Shards that are opened from now on have to join. */
    synchronized LimitStore store(Duration deadline) {
        ShardedLimitStore made = new ShardedLimitStore(shards, deadline);
        store = made;
        return made;
    }

    void close() {
        shards.forEach(shard -> shard.store().close());
    }

    /** The tables of a shard, as soon as it is open. */
    private static final class Tables implements ShardTables {

        private final String name;
        private volatile @Nullable ShardTables opened;

        private Tables(String name) {
            this.name = name;
        }

        private ShardTables opened() {
            ShardTables tables = opened;
            if (tables == null) {
                throw new LimitStoreException(
                        "shard " + name + " has been unavailable since the start", new IllegalStateException(name));
            }
            return tables;
        }

        @Override
        public boolean isAwaited() {
            return opened == null;
        }

        @Override
        public List<Recorded> read() {
            return opened().read();
        }

        @Override
        public Recorded record(Recorded list) {
            return opened().record(list);
        }

        @Override
        public boolean hasState() {
            return opened().hasState();
        }

        @Override
        public List<Leaving> leave(List<StateKey> keys, int version, boolean forgotten) {
            return opened().leave(keys, version, forgotten);
        }

        @Override
        public void arrive(List<Leaving> rows) {
            opened().arrive(rows);
        }

        @Override
        public List<StateKey> keysAfter(@Nullable StateKey key, int most) {
            return opened().keysAfter(key, most);
        }

        @Override
        public void allMoved(int version) {
            opened().allMoved(version);
        }
    }
}
