package dev.ratelimit.connection;

import dev.ratelimit.store.LimitStoreException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Runs work that opens several connections in one transaction of one connection. Migrations need that behind a transaction pooler:
 * they change the search path of their session, and nobody else may find it changed. Not thread-safe.
 */
public final class OneTransaction extends AbstractDataSource {

    private final Connection connection;
    private int open;

    private OneTransaction(Connection connection) {
        this.connection = connection;
    }

    /** All of the work is committed, or nothing. */
    public static void run(DataSource dataSource, Consumer<DataSource> work) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            boolean done = false;
            try {
                work.accept(new OneTransaction(connection));
                try (Statement statement = connection.createStatement()) {
                    statement.execute("RESET ROLE; RESET search_path");
                }
                connection.commit();
                done = true;
            } finally {
                if (!done) {
                    connection.rollback();
                }
            }
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL failed: " + e.getMessage(), e);
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (open == 0) {
            beginAgainIfFailed();
        }
        open++;
        AtomicBoolean autoCommit = new AtomicBoolean(true);
        return (Connection) Proxy.newProxyInstance(
                OneTransaction.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "close" -> {
                            open--;
                            return null;
                        }
                        case "setAutoCommit" -> {
                            autoCommit.set((boolean) arguments[0]);
                            return null;
                        }
                        case "getAutoCommit" -> {
                            return autoCommit.get();
                        }
                        case "commit" -> {
                            return null;
                        }
                        default -> {
                            try {
                                return method.invoke(connection, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getTargetException();
                            }
                        }
                    }
                });
    }

    /** The work tries again after some failures. */
    private void beginAgainIfFailed() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1");
        } catch (SQLException e) {
            connection.rollback();
        }
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }
}
