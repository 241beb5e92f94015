package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import dev.ratelimit.autoconfigure.RateLimitProperties.SynchronousCommit;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import java.time.Duration;

/** Opens the store in PostgreSQL on a small pool of its own. */
final class PostgresStores {

    private static final long CONNECTION_TIMEOUT_AT_START = 10_000;

    private PostgresStores() {}

    private static BoundedWaitPool connected(HikariConfig config) {
        try {
            return new BoundedWaitPool(config);
        } catch (PoolInitializationException e) {
            throw new LimitStoreException("PostgreSQL cannot be reached (" + e.getMessage() + ")", e);
        }
    }

    static LimitStore open(StateDatabase.Postgres database, Duration deadline) {
        String schema = database.settings().schema();
        HikariConfig config = database.pool("ratelimit", database.settings().poolSize());
        config.setConnectionTimeout(CONNECTION_TIMEOUT_AT_START);
        config.addDataSourceProperty("prepareThreshold", "1");
        BoundedWaitPool pool = connected(config);
        try {
            Schema.migrate(pool, schema);
            pool.setDeadline(deadline);
            PostgresLimitStore store = new PostgresLimitStore(pool, schema).withDeadline(deadline);
            return new PooledLimitStore(
                    database.settings().synchronousCommit() == SynchronousCommit.ON
                            ? store
                            : store.withoutWaitingForTheDisk(),
                    pool);
        } catch (RuntimeException e) {
            pool.close();
            throw e;
        }
    }
}
