package dev.ratelimit.autoconfigure;

import dev.ratelimit.autoconfigure.RateLimitProperties.SynchronousCommit;
import dev.ratelimit.connection.LimiterConnections;
import dev.ratelimit.connection.OneTransaction;
import dev.ratelimit.connection.UnusableDataSourceException;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import java.time.Duration;

/** Opens the store in PostgreSQL on a few connections of its own. */
final class PostgresStores {

    private PostgresStores() {}

    static LimitStore open(PostgresDatabase database, Duration deadline) {
        String schema = database.settings().schema();
        int connectionsAtOnce = database.settings().poolSize();
        LimiterConnections connections = database.open("ratelimit", connectionsAtOnce, connectionsAtOnce);
        try {
            if (database.isTransactionPooled()) {
                OneTransaction.run(connections, one -> Schema.migrate(one, schema));
            } else {
                Schema.migrate(connections, schema);
                connections.prepareAtOnce();
            }
            connections.setDeadline(deadline);
            PostgresLimitStore store = new PostgresLimitStore(connections, schema).withDeadline(deadline);
            return new PooledLimitStore(
                    database.settings().synchronousCommit() == SynchronousCommit.ON
                            ? store
                            : store.withoutWaitingForTheDisk(),
                    connections);
        } catch (UnsupportedDatabaseException e) {
            connections.close();
            throw new UnusableDataSourceException(e.getMessage() + ".", e);
        } catch (RuntimeException e) {
            connections.close();
            throw e;
        }
    }
}
