package dev.ratelimit.store.postgresql.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work that is one transaction, or none. The statements of the work begin and end it, in as few round trips as they
 * need; a transaction that failed is rolled back here.
 */
public final class PostgresConnections {

    private static final Logger log = LoggerFactory.getLogger(PostgresConnections.class);

    /** The database has undone the transaction, since another one was in its way. */
    public static final String SERIALIZATION_FAILURE = "40001";

    public static final String DEADLOCK_DETECTED = "40P01";
    private static final String IDLE_IN_TRANSACTION_TIMEOUT = "25P03";

    /** How often work is tried that other transactions are in the way of. */
    public static final int MOST_TRIES = 5;

    /** The server is a standby, or has become one. */
    public static final String READ_ONLY = "25006";

    private static final String UNABLE_TO_CONNECT = "08001";

    private final DataSource dataSource;
    private final @Nullable Duration deadline;

    public PostgresConnections(DataSource dataSource, @Nullable Duration deadline) {
        this.dataSource = dataSource;
        this.deadline = deadline;
    }

    /** The work of one transaction. */
    public interface Work {
        void on(Connection connection) throws SQLException;
    }

    /** Runs the work, and runs it again if the database has undone all of it for reasons of its own. */
    public void run(Work work) throws SQLException {
        for (int tries = 1; ; tries++) {
            try {
                runOnce(work);
                return;
            } catch (SQLException e) {
                if (tries >= mostTries(String.valueOf(e.getSQLState()))) {
                    throw e;
                }
            }
        }
    }

    /** Runs the work. If it fails, it is not known in general whether it was committed. */
    public void runOnce(Work work) throws SQLException {
        try (Connection connection = connect()) {
            boolean done = false;
            try {
                work.on(connection);
                done = true;
            } catch (SQLException e) {
                if (READ_ONLY.equals(e.getSQLState())) {
                    abandon(connection); // a pool would keep it; another one may lead to the primary
                }
                throw e;
            } finally {
                if (!done) {
                    // The next user of the connection must not find a transaction on it.
                    rollBack(connection);
                }
            }
        }
    }

    /** Runs the work and commits. Only for work that is not a request: this takes several round trips. */
    public static void commit(Connection connection, Work work) throws SQLException {
        connection.setAutoCommit(false);
        boolean done = false;
        try {
            work.on(connection);
            connection.commit();
            done = true;
        } finally {
            if (!done) {
                connection.rollback();
            }
            connection.setAutoCommit(true);
        }
    }

    private static int mostTries(String sqlState) {
        return switch (sqlState) {
            case SERIALIZATION_FAILURE, DEADLOCK_DETECTED -> MOST_TRIES;
            // This process was not running for a while: the next try is likely to be in time.
            case IDLE_IN_TRANSACTION_TIMEOUT -> 2;
            default -> 1;
        };
    }

    /** Whether there was no connection: pools say so with an exception of their own, the driver with a state. */
    static boolean isUnconnected(SQLException e) {
        return e instanceof SQLTransientConnectionException || UNABLE_TO_CONNECT.equals(e.getSQLState());
    }

    /** In autocommit mode, whatever the pool prefers for the application. */
    public Connection connect() throws SQLException {
        Connection connection = dataSource.getConnection();
        if (!connection.getAutoCommit()) {
            connection.setAutoCommit(true);
        }
        if (deadline != null) {
            connection.setNetworkTimeout(Runnable::run, silence(deadline));
        }
        return connection;
    }

    /** How long a connection may be silent, in milliseconds. */
    private static int silence(Duration deadline) {
        long millis = Math.max(3 * deadline.toMillis(), deadline.toMillis() + 500);
        return (int) Math.min(Integer.MAX_VALUE, millis);
    }

    /** Rolls back whatever transaction there is; a connection on which that fails is given up. */
    public static void rollBack(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("ROLLBACK");
        } catch (SQLException e) {
            log.debug("Aborting a connection: its transaction could not be rolled back", e);
            abandon(connection);
        }
    }

    private static void abandon(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("Ignoring a failure to abort a connection", e);
        }
    }
}
