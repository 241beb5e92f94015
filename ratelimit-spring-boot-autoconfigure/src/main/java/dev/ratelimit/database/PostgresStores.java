package dev.ratelimit.database;

import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.connection.PooledLimitStore;
import dev.ratelimit.database.StoreProperties.SynchronousCommit;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** Opens the store in PostgreSQL on a few connections of its own. */
final class PostgresStores {

    private PostgresStores() {}

    static LimitStore open(PostgresDatabase database, Duration deadline, @Nullable InstantSource clock) {
        String schema = database.settings().schema();
        int connectionsAtOnce = database.settings().poolSize();
        LimiterConnections connections = database.open("ratelimit", connectionsAtOnce, connectionsAtOnce);
        try {
            database.migrate(connections);
            if (!database.isTransactionPooled()) {
                connections.prepareAtOnce();
            }
            connections.setDeadline(deadline);
            PostgresLimitStore store = new PostgresLimitStore(connections, schema, clock).withDeadline(deadline);
            return new PooledLimitStore(
                    database.settings().synchronousCommit() == SynchronousCommit.ON
                            ? store
                            : store.withoutWaitingForTheDisk(),
                    connections);
        } catch (RuntimeException e) {
            connections.close();
            throw e;
        }
    }
}
