package dev.ratelimit.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import com.zaxxer.hikari.util.Credentials;
import dev.ratelimit.store.LimitStoreException;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens pools of the limiter's own, so that it never takes connections of the application. */
final class OwnPools {

    private static final String APPLICATION_NAME = "ApplicationName";

    /** The class of SQL states for connections that are lost. */
    private static final String CONNECTION_EXCEPTION = "08";

    private static final Logger log = LoggerFactory.getLogger(OwnPools.class);

    private OwnPools() {}

    static LimiterConnections to(PostgresSource.Address address, String name, int idle, int most) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(address.url());
        config.setUsername(address.username());
        config.setPassword(address.password());
        config.addDataSourceProperty(APPLICATION_NAME, "ratelimit");
        return open(config, name, idle, most);
    }

    /** Takes connections from a data source that opens each anew. */
    static LimiterConnections over(DataSource dataSource, String name, int idle, int most) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(dataSource);
        return open(config, name, idle, most);
    }

    /**
     * Makes connections as the application's pool does: with its driver, properties and credentials. Settings that are about
     * the pool itself, or about work of the application, are not copied.
     *
     * @param application the pool of the application now, which is asked again for each new connection
     */
    static LimiterConnections like(Supplier<HikariDataSource> application, String name, int idle, int most) {
        HikariDataSource pool = application.get();
        HikariConfig defaults = new HikariConfig();
        HikariConfig config = new HikariConfig();
        pool.copyStateTo(config);
        config.setIdleTimeout(defaults.getIdleTimeout());
        config.setLeakDetectionThreshold(0);
        config.setInitializationFailTimeout(defaults.getInitializationFailTimeout());
        config.setAutoCommit(true);
        config.setReadOnly(false);
        config.setTransactionIsolation(null);
        config.setIsolateInternalQueries(false);
        config.setRegisterMbeans(false);
        config.setAllowPoolSuspension(false);
        config.setThreadFactory(null);
        config.setScheduledExecutor(null);
        withoutMetrics(config);
        if (config.getJdbcUrl() != null) {
            config.setJdbcUrl(named(config.getJdbcUrl(), config));
        }
        config.setCredentialsProvider(() -> credentials(application.get()));
        return open(config, name, idle, most);
    }

    /** One of the two is not set, and neither may be set beside the other. */
    private static void withoutMetrics(HikariConfig config) {
        if (config.getMetricsTrackerFactory() != null) {
            config.setMetricsTrackerFactory(null);
        }
        if (config.getMetricRegistry() != null) {
            config.setMetricRegistry(null);
        }
        if (config.getHealthCheckRegistry() != null) {
            config.setHealthCheckRegistry(null);
        }
    }

    /** In the address, since the properties are the same object as those of the application. */
    private static String named(String url, HikariConfig config) {
        return !ApplicationDataSource.isPostgresUrl(url)
                        || url.contains(APPLICATION_NAME)
                        || config.getDataSourceProperties().containsKey(APPLICATION_NAME)
                ? url
                : url + (url.contains("?") ? "&" : "?") + APPLICATION_NAME + "=ratelimit";
    }

    /** The current credentials, as HikariCP itself reads them: some are valid for a quarter of an hour. */
    private static Credentials credentials(HikariDataSource pool) {
        HikariCredentialsProvider provider = pool.getCredentialsProvider();
        if (provider != null) {
            return provider.getCredentials();
        }
        return Boolean.getBoolean("com.zaxxer.hikari.legacy.supportUserPassDataSourceOverride")
                ? Credentials.of(pool.getUsername(), pool.getPassword())
                : pool.getCredentials();
    }

    /** Connects once before there is a pool: HikariCP would log a failure with its stack trace. */
    private static void requireReachable(HikariConfig config) {
        HikariCredentialsProvider provider = config.getCredentialsProvider();
        Credentials credentials = provider == null ? config.getCredentials() : provider.getCredentials();
        try (Connection connection =
                ReconnectingDataSource.of(config).connect(credentials, PostgresSource.WAIT_AT_START)) {
            log.debug("PostgreSQL is reachable: {}", connection);
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL cannot be reached (" + reason(e) + ")", e);
        }
    }

    /** The driver names a refused address itself, but leaves an unknown host to the cause. */
    private static @Nullable String reason(SQLException failure) {
        return failure.getCause() instanceof UnknownHostException unknown
                ? "unknown host " + unknown.getMessage()
                : failure.getMessage();
    }

    private static LimiterConnections open(HikariConfig config, String name, int idle, int most) {
        config.setPoolName(name);
        config.setMaximumPoolSize(most);
        config.setMinimumIdle(idle);
        config.setConnectionTimeout(PostgresSource.WAIT_AT_START.toMillis());
        requireReachable(config);
        long end = System.nanoTime() + PostgresSource.WAIT_AT_START.toNanos();
        while (true) {
            try {
                return new BoundedWaitPool(config);
            } catch (PoolInitializationException e) {
                if (!isLostConnection(e.getCause()) || System.nanoTime() - end >= 0) {
                    throw new LimitStoreException("PostgreSQL cannot be reached (" + e.getMessage() + ")", e);
                }
            }
        }
    }

    /** On a busy machine, the first connection may answer later than {@link BoundedWaitPool} lets HikariCP wait. */
    private static boolean isLostConnection(@Nullable Throwable failure) {
        return failure instanceof SQLException e
                && e.getSQLState() != null
                && e.getSQLState().startsWith(CONNECTION_EXCEPTION);
    }
}
