package dev.ratelimit.connection;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.store.LimitStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** Where the limiter's connections to PostgreSQL come from. */
public sealed interface PostgresSource {

    Duration WAIT_AT_START = Duration.ofSeconds(10);

    /**
     * Connects to the database.
     *
     * @param name the name of the pool
     * @param idle how many connections to keep open, if they are its own
     * @param most how many connections to have at once
     */
    LimiterConnections open(String name, int idle, int most);

    /** For log lines. */
    String describe();

    /** A database by its address. */
    record Address(
            String url, @Nullable String username, @Nullable String password) implements PostgresSource {

        @Override
        public LimiterConnections open(String name, int idle, int most) {
            return OwnPools.to(this, name, idle, most);
        }

        @Override
        public String describe() {
            return "PostgreSQL";
        }

        /** Keeps the password out of logs. */
        @Override
        public String toString() {
            return "Address[]";
        }
    }

    /**
     * The data source of the application. The limiter has connections of its own, so that those of the application are left to
     * it, and makes them in the same way. Only from a pool whose way is not known does it borrow them.
     */
    record Application(DataSource dataSource) implements PostgresSource {

        @Override
        public LimiterConnections open(String name, int idle, int most) {
            if (ApplicationDataSource.hikari(dataSource) != null) {
                return OwnPools.like(this::pool, name, idle, most);
            }
            try {
                if (!ApplicationDataSource.HIKARI) {
                    return new BorrowedConnections(dataSource, most);
                }
                LimiterConnections own = HiddenPool.copy(dataSource, name, idle, most);
                if (own != null) {
                    return own;
                }
                return isPool(dataSource)
                        ? new BorrowedConnections(dataSource, most)
                        : OwnPools.over(dataSource, name, idle, most);
            } catch (SQLException e) {
                throw new LimitStoreException("PostgreSQL cannot be reached (" + e.getMessage() + ")", e);
            }
        }

        /** Unwrapped for each new connection: behind a proxy of a refreshed scope there may be another pool by then. */
        private HikariDataSource pool() {
            HikariDataSource pool = ApplicationDataSource.hikari(dataSource);
            if (pool == null) {
                throw new IllegalStateException(
                        "the DataSource of the application was a HikariCP pool, and no longer is");
            }
            return pool;
        }

        /** Whether closed connections stay open for the next user. Where that cannot be seen, they are expected to. */
        private static boolean isPool(DataSource dataSource) throws SQLException {
            Connection physical;
            try (Connection connection = dataSource.getConnection()) {
                PGConnection driver = PostgresDriver.behind(connection);
                if (!(driver instanceof Connection found)) {
                    return true;
                }
                physical = found;
            }
            return !physical.isClosed();
        }

        @Override
        public String describe() {
            return "the PostgreSQL database of the application";
        }
    }
}
