package dev.ratelimit.connection;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.pool.HikariPool;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * A pool that gives a connection soon or not at all. HikariCP waits for at least 250 ms for a connection that has to be
 * opened first, which is longer than a request may be kept; meanwhile it goes on opening one in the background. After an
 * outage a connection is open again soon: see {@link ReconnectingDataSource}.
 */
final class BoundedWaitPool extends HikariDataSource implements LimiterConnections {

    private static final long STEP_MILLIS = 5;

    /** The shortest that HikariCP takes. Without it, a database that is silent keeps a request for five seconds. */
    private static final long VALIDATION_MILLIS = 250;

    private enum Preparing {
        AS_CONFIGURED,
        AT_ONCE,
        NEVER
    }

    private volatile @Nullable Duration deadline;
    private volatile @Nullable Duration longestWait;
    private volatile @Nullable Duration longestSilence;
    private volatile Preparing preparing = Preparing.AS_CONFIGURED;

    private final ReconnectingDataSource database;

    BoundedWaitPool(HikariConfig config) {
        this(config, ReconnectingDataSource.of(config));
    }

    private BoundedWaitPool(HikariConfig config, ReconnectingDataSource database) {
        super(over(database, config));
        this.database = database;
        database.keepTrying();
    }

    private static HikariConfig over(ReconnectingDataSource database, HikariConfig config) {
        config.setValidationTimeout(VALIDATION_MILLIS);
        config.setDataSource(database);
        return config;
    }

    @Override
    public void setDeadline(Duration time) {
        deadline = time;
    }

    @Override
    public void setLongestWait(Duration time) {
        longestWait = time;
    }

    @Override
    public void setLongestSilence(Duration time) {
        longestSilence = time;
    }

    @Override
    public boolean mayBeHeld() {
        return true;
    }

    @Override
    public void prepareAtOnce() {
        preparing = Preparing.AT_ONCE;
    }

    @Override
    public void neverPrepare() {
        preparing = Preparing.NEVER;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = takeConnection();
        Silence.bound(connection, longestSilence);
        Preparing now = preparing;
        PGConnection driver = now == Preparing.AS_CONFIGURED ? null : PostgresDriver.behind(connection);
        if (driver == null) {
            return connection;
        }
        if (now == Preparing.NEVER) {
            driver.setPrepareThreshold(0);
        } else if (driver.getPrepareThreshold() == PostgresDriver.DEFAULT_PREPARE_THRESHOLD) {
            driver.setPrepareThreshold(1);
        }
        return connection;
    }

    private Connection takeConnection() throws SQLException {
        Duration time = deadline;
        if (!(getHikariPoolMXBean() instanceof HikariPool pool)) {
            return super.getConnection();
        }
        if (time == null) {
            Duration wait = longestWait;
            return wait == null ? super.getConnection() : pool.getConnection(wait.toMillis());
        }
        long until = System.nanoTime() + time.toNanos();
        awaitIdleConnection(pool, until);
        // With a time of its own: a changed setting is seen by the pool only after up to half a minute.
        return pool.getConnection(Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime())));
    }

    @Override
    public @Nullable PoolStatus status() {
        HikariPoolMXBean pool = isClosed() ? null : getHikariPoolMXBean();
        return pool == null
                ? null
                : new PoolStatus(
                        pool.getActiveConnections(),
                        pool.getIdleConnections(),
                        pool.getThreadsAwaitingConnection(),
                        getMaximumPoolSize());
    }

    /** All others are held meanwhile. No deadline applies to that. */
    @Override
    public void onEachConnection(Runnable work, long end) throws SQLException {
        Duration time = deadline;
        deadline = null;
        ArrayDeque<Connection> held = new ArrayDeque<>();
        try {
            for (int i = 0; i < getMaximumPoolSize(); i++) {
                held.add(super.getConnection());
            }
            for (int i = 0; i < getMaximumPoolSize() && System.nanoTime() - end < 0; i++) {
                held.remove().close();
                work.run();
                held.add(super.getConnection());
            }
        } finally {
            for (Connection connection : held) {
                connection.close();
            }
            deadline = time;
        }
    }

    private void awaitIdleConnection(HikariPool pool, long until) throws SQLException {
        while (pool.getIdleConnections() == 0) {
            if (System.nanoTime() - until >= 0) {
                String reason = database.lastFailure();
                throw new SQLTransientConnectionException(
                        "no connection to PostgreSQL is open" + (reason == null ? "" : " (" + reason + ")"));
            }
            try {
                Thread.sleep(STEP_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SQLTransientConnectionException("interrupted while waiting for a connection", e);
            }
        }
    }
}
