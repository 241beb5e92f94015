package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.data.PolicyDatabase;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The connections by which limits, rules, quotas and keys are read and changed: apart from those of decisions, which an
 * administrator must not keep waiting.
 */
record PolicyConnections(PolicyDatabase database, @Nullable HikariDataSource pool) implements AutoCloseable {

    /** One that hears of changes, one that reads them, one for whoever makes them. */
    private static final int MOST = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    static PolicyConnections open(StateDatabase database) {
        if (database instanceof StateDatabase.Sqlite sqlite) {
            return new PolicyConnections(PolicyDatabase.sqlite(sqlite.file()), null);
        }
        if (!(database instanceof StateDatabase.Postgres postgres)) {
            throw new IllegalStateException("limits and rules are not stored in memory");
        }
        HikariConfig config = postgres.pool("ratelimit-policies", MOST);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(PATIENCE.toMillis());
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
