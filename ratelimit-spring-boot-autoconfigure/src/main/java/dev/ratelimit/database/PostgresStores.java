package dev.ratelimit.database;

import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.connection.PooledLimitStore;
import dev.ratelimit.database.StoreProperties.Mode;
import dev.ratelimit.database.StoreProperties.Postgresql;
import dev.ratelimit.database.StoreProperties.SynchronousCommit;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.shard.PostgresShardTables;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.shard.Shard;
import java.time.Duration;
import java.time.InstantSource;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Opens the store in PostgreSQL on a few connections of its own. */
final class PostgresStores {

    private PostgresStores() {}

    static LimitStore open(PostgresDatabase database, Duration deadline, @Nullable InstantSource clock) {
        LimiterConnections connections = connect(database, "ratelimit", deadline);
        return new PooledLimitStore(store(connections, database.settings(), deadline, clock), connections);
    }

    static Shard openShard(String name, PostgresDatabase database, Duration deadline, @Nullable InstantSource clock) {
        LimiterConnections connections = connect(database, "ratelimit-" + name, deadline);
        return new Shard(
                name,
                new PooledLimitStore(store(connections, database.settings(), deadline, clock), connections),
                new PostgresShardTables(connections, database.settings().schema(), deadline));
    }

    private static LimiterConnections connect(PostgresDatabase database, String pool, Duration deadline) {
        int connectionsAtOnce = database.settings().poolSize();
        LimiterConnections connections = database.open(pool, connectionsAtOnce, connectionsAtOnce);
        try {
            database.migrate(connections);
            if (!database.isTransactionPooled()) {
                connections.prepareAtOnce();
            }
            connections.setDeadline(deadline);
            return connections;
        } catch (RuntimeException e) {
            connections.close();
            throw e;
        }
    }

    private static LimitStore store(
            DataSource connections, Postgresql settings, Duration deadline, @Nullable InstantSource clock) {
        boolean durable = settings.synchronousCommit() == SynchronousCommit.ON;
        if (settings.mode() == Mode.SWAP) {
            PostgresSwapStore store =
                    new PostgresSwapStore(connections, settings.schema(), clock).withDeadline(deadline);
            return durable ? store : store.withoutWaitingForTheDisk();
        }
        PostgresLimitStore store = new PostgresLimitStore(connections, settings.schema(), clock).withDeadline(deadline);
        return durable ? store : store.withoutWaitingForTheDisk();
    }
}
