package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A pool that gives a connection soon or not at all. HikariCP waits for at least 250 ms for a connection that has to be
 * opened first, which is longer than a request may be kept; meanwhile it goes on opening one in the background.
 */
final class PromptPool extends HikariDataSource {

    private static final long STEP_MILLIS = 5;
    private static final long SHORTEST_TIMEOUT_MILLIS = 250;

    private volatile @Nullable Duration deadline;

    PromptPool(HikariConfig config) {
        super(config);
    }

    /** From here on, nobody waits longer than that; before, at the start of the application, there is time. */
    void setDeadline(Duration time) {
        setConnectionTimeout(Math.max(SHORTEST_TIMEOUT_MILLIS, time.toMillis()));
        deadline = time;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Duration time = deadline;
        if (time != null) {
            awaitIdleConnection(System.nanoTime() + time.toNanos());
        }
        return super.getConnection();
    }

    private void awaitIdleConnection(long until) throws SQLException {
        HikariPoolMXBean pool = getHikariPoolMXBean();
        while (pool.getIdleConnections() == 0) {
            if (System.nanoTime() - until >= 0) {
                throw new SQLTransientConnectionException("no connection to PostgreSQL is open");
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
