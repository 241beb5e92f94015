package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.autoconfigure.RateLimitProperties.Postgresql;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.jdbc.PostgresLimitStore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Opens the store in PostgreSQL on a small pool of its own, so that it never takes the application's connections. */
final class PostgresPool {

    /** The shortest wait that the pool can be given. */
    private static final long SHORTEST_WAIT = 250;

    private PostgresPool() {}

    static LimitStore open(
            String url, @Nullable String username, @Nullable String password, Postgresql settings, Duration deadline) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("ratelimit");
        config.setJdbcUrl(url);
        config.setUsername(username);
        config.setPassword(password);
        config.setMaximumPoolSize(settings.poolSize());
        config.setConnectionTimeout(Math.max(SHORTEST_WAIT, deadline.toMillis()));
        config.addDataSourceProperty("ApplicationName", "ratelimit");
        config.addDataSourceProperty("prepareThreshold", "1");
        HikariDataSource pool = new HikariDataSource(config);
        try {
            Schema.migrate(pool, settings.schema());
            return new OwnedStore(new PostgresLimitStore(pool, settings.schema()).withTimeout(deadline), pool);
        } catch (RuntimeException e) {
            pool.close();
            throw e;
        }
    }
}
