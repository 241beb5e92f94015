package dev.ratelimit.database;

import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.shard.InvalidShardsException;
import dev.ratelimit.store.shard.Shard;
import dev.ratelimit.store.shard.ShardedLimitStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Several PostgreSQL databases. Each subject has its counts in one of them; limits, rules and audit are in the first. */
final class ShardedDatabase implements StateDatabase {

    private final Map<String, PostgresDatabase> shards;

    private final boolean required;

    /**
     * @param shards by name, in the order of the configuration
     * @param required whether all of them must be available when the store is opened
     */
    ShardedDatabase(Map<String, PostgresDatabase> shards, boolean required) {
        this.required = required;
        this.shards = new LinkedHashMap<>(shards);
    }

    @Override
    public LimitStore open(Duration deadline, @Nullable InstantSource clock) {
        try {
            return required ? openAll(deadline, clock) : openAvailable(deadline, clock);
        } catch (InvalidShardsException e) {
            throw new InvalidPropertyException(ShardNames.PROPERTY, String.join(", ", shards.keySet()), e.advice());
        }
    }

    private LimitStore openAll(Duration deadline, @Nullable InstantSource clock) {
        List<Shard> opened = new ArrayList<>();
        try {
            shards.forEach((name, database) -> opened.add(PostgresStores.openShard(name, database, deadline, clock)));
            return new ShardedLimitStore(opened, deadline);
        } catch (RuntimeException e) {
            opened.forEach(shard -> shard.store().close());
            throw e;
        }
    }

    private LimitStore openAvailable(Duration deadline, @Nullable InstantSource clock) {
        AwaitedShards opened = new AwaitedShards();
        try {
            Duration each = AwaitedLimitStore.LONGEST_AT_START.dividedBy(shards.size());
            shards.forEach((name, database) -> opened.add(
                    name,
                    () -> PostgresStores.openShard(name, database, deadline, clock),
                    database.groupsAtOnce(),
                    each));
            return opened.store(deadline);
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    @Override
    public int groupsAtOnce() {
        return main().groupsAtOnce();
    }

    @Override
    public StateDatabase main() {
        return shards.values().iterator().next();
    }

    @Override
    public List<PostgresDatabase> all() {
        return List.copyOf(shards.values());
    }

    /** For log lines. */
    @Override
    public String toString() {
        return shards.size() + " PostgreSQL shards: " + String.join(", ", shards.keySet());
    }
}
