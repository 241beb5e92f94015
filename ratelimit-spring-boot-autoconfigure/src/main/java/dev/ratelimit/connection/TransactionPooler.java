package dev.ratelimit.connection;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * Recognises a proxy that gives each transaction another connection of the server, such as PgBouncer in transaction mode. Behind it,
 * prepared statements and LISTEN stay on connections that others use next.
 *
 * <ol>
 *   <li>A server tells each client the number of its process, for cancelling. A proxy that shares server connections has to make
 *       up a number of its own. So if the number is true, there is no such proxy.
 *   <li>Otherwise there may be one, or one that pools by session. Then two connections are opened. If both are served by
 *       the same process, or one of them by two processes in turn, connections are shared.
 * </ol>
 */
public final class TransactionPooler {

    private static final int ROUNDS = 5;

    /** Process numbers are used again; together with its start a process has no double. */
    private static final String PROCESS =
            "SELECT pid || ' since ' || backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()";

    /** Nothing can be compared, since there is only one connection. */
    public static final class NoSecondConnectionException extends SQLException {

        private static final long serialVersionUID = 1L;

        NoSecondConnectionException(SQLException cause) {
            super(cause.getMessage(), cause);
        }
    }

    private TransactionPooler() {}

    /** Whether connections do not show the driver of PostgreSQL, so that nobody can tell it to prepare nothing. */
    public static boolean isDriverHidden(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return PostgresDriver.behind(connection) == null;
        }
    }

    public static boolean isRuledOut(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            PGConnection driver = PostgresDriver.behind(connection);
            return driver != null
                    && text(connection, "SELECT pg_backend_pid()").equals(Integer.toString(driver.getBackendPID()));
        }
    }

    /**
     * @param dataSource has two connections
     * @throws NoSecondConnectionException if it has only one
     */
    public static boolean isFound(DataSource dataSource) throws SQLException {
        try (Connection first = dataSource.getConnection();
                Connection second = second(dataSource)) {
            for (int round = 0; round < ROUNDS; round++) {
                if (areShared(first, second)) {
                    return true;
                }
            }
            return false;
        }
    }

    private static Connection second(DataSource dataSource) throws NoSecondConnectionException {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw new NoSecondConnectionException(e);
        }
    }

    /** Asks the first again only if the second has another process: in a pool of one, it would wait for the second. */
    private static boolean areShared(Connection first, Connection second) throws SQLException {
        String before = text(first, PROCESS);
        second.setAutoCommit(false);
        try {
            return text(second, PROCESS).equals(before) || !text(first, PROCESS).equals(before);
        } finally {
            // A pooler by statement ends the connection, and the reason is in the exception that is on its way.
            if (!second.isClosed()) {
                second.rollback();
                second.setAutoCommit(true);
            }
        }
    }

    private static String text(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        }
    }
}
