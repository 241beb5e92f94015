package dev.ratelimit.audit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Connections that can lose the answer to a write: it is committed, but seems to fail. */
final class LostAnswers extends DelegatingDataSource {

    private final AtomicBoolean lost;

    LostAnswers(DataSource target, AtomicBoolean lost) {
        super(target);
        this.lost = lost;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        AtomicBoolean writes = new AtomicBoolean();
        return proxy(Connection.class, connection, (name, arguments, result) -> {
            if (name.equals("prepareStatement") && arguments[0].toString().contains("INTO")) {
                writes.set(true);
                boolean commitsItself = connection.getAutoCommit();
                return proxy(PreparedStatement.class, (PreparedStatement) result, (called, values, answer) -> {
                    loseIf(commitsItself && called.startsWith("execute"));
                    return answer;
                });
            }
            if (name.equals("unwrap")) {
                writes.set(true); // a copy needs the driver
            }
            loseIf(name.equals("commit") && writes.get());
            return result;
        });
    }

    private void loseIf(boolean committed) throws SQLException {
        if (committed && lost.get()) {
            throw new SQLException("The connection was lost before the answer came");
        }
    }

    private interface After {
        Object call(String method, Object[] arguments, Object result) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T target, After after) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    Object[] given = arguments == null ? new Object[0] : Arrays.copyOf(arguments, arguments.length);
                    try {
                        return after.call(method.getName(), given, method.invoke(target, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
