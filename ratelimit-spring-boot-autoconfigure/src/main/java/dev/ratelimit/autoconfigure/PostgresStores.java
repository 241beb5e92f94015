package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import dev.ratelimit.autoconfigure.RateLimitProperties.Postgresql;
import dev.ratelimit.autoconfigure.RateLimitProperties.SynchronousCommit;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.jdbc.PostgresLimitStore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Opens the store in PostgreSQL on a small pool of its own, so that it never takes the application's connections. */
final class PostgresStores {

    private static final long PATIENCE_AT_START = 10_000;

    private PostgresStores() {}

    static LimitStore open(
            String url, @Nullable String username, @Nullable String password, Postgresql settings, Duration deadline) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("ratelimit");
        config.setJdbcUrl(url);
        config.setUsername(username);
        config.setPassword(password);
        config.setMaximumPoolSize(settings.poolSize());
        config.setConnectionTimeout(PATIENCE_AT_START);
        config.addDataSourceProperty("ApplicationName", "ratelimit");
        config.addDataSourceProperty("prepareThreshold", "1");
        PromptPool pool = new PromptPool(config);
        try {
            Schema.migrate(pool, settings.schema());
            pool.setDeadline(deadline);
            PostgresLimitStore store = new PostgresLimitStore(pool, settings.schema()).withTimeout(deadline);
            return new OwnedStore(
                    settings.synchronousCommit() == SynchronousCommit.ON ? store : store.withoutWaitingForTheDisk(),
                    pool);
        } catch (RuntimeException e) {
            pool.close();
            throw e;
        }
    }
}
