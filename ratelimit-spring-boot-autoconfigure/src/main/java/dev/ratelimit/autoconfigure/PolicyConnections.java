package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.data.PolicyDatabase;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The connections for reading and changing limits, rules, quotas and API keys. Decisions have their own, so that
 * administration never keeps them waiting.
 */
record PolicyConnections(PolicyDatabase database, @Nullable HikariDataSource pool) implements AutoCloseable {

    /** One to listen for changes, one to read them, one to make them. */
    private static final int MOST = 3;

    private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(10);

    static PolicyConnections open(StateDatabase database) {
        if (database instanceof StateDatabase.Sqlite sqlite) {
            return new PolicyConnections(PolicyDatabase.sqlite(sqlite.file()), null);
        }
        if (!(database instanceof StateDatabase.Postgres postgres)) {
            throw new IllegalStateException("limits and rules are not stored in memory");
        }
        HikariConfig config = postgres.pool("ratelimit-policies", MOST);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(CONNECTION_TIMEOUT.toMillis());
        HikariDataSource pool = new HikariDataSource(config);
        try {
            return new PolicyConnections(
                    PolicyDatabase.postgres(pool, postgres.settings().schema()), pool);
        } catch (RuntimeException e) {
            pool.close();
            throw e;
        }
    }

    @Override
    public void close() {
        if (pool != null) {
            pool.close();
        }
    }
}
