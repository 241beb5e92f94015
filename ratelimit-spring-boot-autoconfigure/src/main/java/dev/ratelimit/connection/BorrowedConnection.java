package dev.ratelimit.connection;

import dev.ratelimit.support.LogText;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection that is returned as it was: not every pool puts the settings of its connections back. */
final class BorrowedConnection implements InvocationHandler {

    private static final Logger log = LoggerFactory.getLogger(BorrowedConnection.class);

    private final Connection connection;
    private final Runnable afterReturn;
    private final boolean autoCommit;
    private final int networkTimeout;
    private final @Nullable PGConnection unprepared;
    private final int prepareThreshold;
    private boolean closed;

    private BorrowedConnection(Connection connection, boolean neverPrepare, Runnable afterReturn) throws SQLException {
        this.connection = connection;
        this.afterReturn = afterReturn;
        this.autoCommit = connection.getAutoCommit();
        this.networkTimeout = connection.getNetworkTimeout();
        this.unprepared = neverPrepare ? PostgresDriver.behind(connection) : null;
        this.prepareThreshold = unprepared == null ? 0 : unprepared.getPrepareThreshold();
    }

    /**
     * @param neverPrepare whether the server must not keep statements prepared meanwhile
     * @param afterReturn runs once, also if this fails
     */
    static Connection of(Connection connection, boolean neverPrepare, Runnable afterReturn) throws SQLException {
        try {
            BorrowedConnection borrowed = new BorrowedConnection(connection, neverPrepare, afterReturn);
            if (borrowed.unprepared != null) {
                borrowed.unprepared.setPrepareThreshold(0);
            }
            return (Connection) Proxy.newProxyInstance(
                    BorrowedConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, borrowed);
        } catch (SQLException | RuntimeException e) {
            try (connection) {
                throw e;
            } finally {
                afterReturn.run();
            }
        }
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        switch (method.getName()) {
            case "close" -> {
                giveBack();
                return null;
            }
            case "isClosed" -> {
                return closed || connection.isClosed();
            }
            case "equals" -> {
                return arguments != null && proxy == arguments[0];
            }
            case "hashCode" -> {
                return System.identityHashCode(proxy);
            }
            default -> {
                try {
                    return method.invoke(connection, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getTargetException();
                }
            }
        }
    }

    private void giveBack() throws SQLException {
        if (closed) {
            return;
        }
        closed = true;
        try (connection) {
            restore();
        } finally {
            afterReturn.run();
        }
    }

    private void restore() {
        try {
            if (unprepared != null) {
                unprepared.setPrepareThreshold(prepareThreshold);
            }
            if (!connection.isClosed()) {
                connection.setNetworkTimeout(Runnable::run, networkTimeout);
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException e) {
            log.debug("Returning a broken connection to the pool of the application: {}", LogText.of(e.getMessage()));
        }
    }
}
