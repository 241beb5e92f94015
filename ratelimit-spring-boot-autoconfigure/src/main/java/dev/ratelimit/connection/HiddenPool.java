package dev.ratelimit.connection;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import com.zaxxer.hikari.pool.ProxyConnection;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.support.LogText;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A HikariCP pool behind a data source that does not show it, as many wrappers do that extend a base class. Borrowed from, it
 * would keep its pauses after an outage, of up to five seconds: see {@link ReconnectingDataSource}. So the limiter has a pool
 * of its own in this case, too.
 *
 * <ol>
 *   <li>A connection of the wrapper leads to its pool. HikariCP has no public way from the one to the other; without a way,
 *       connections are borrowed.
 *   <li>The wrapper may do more than pass connections on. A copy is kept only if its connections lead to the same database with
 *       the same role.
 *   <li>A pool that the wrapper has closed is looked for again.
 * </ol>
 */
final class HiddenPool {

    private static final String IDENTITY = """
            SELECT concat_ws(' ', session_user, current_user, current_database(), inet_server_addr(), inet_server_port())
            """;

    private static final Logger log = LoggerFactory.getLogger(HiddenPool.class);

    private final DataSource wrapper;
    private volatile HikariDataSource pool;

    private HiddenPool(DataSource wrapper, HikariDataSource pool) {
        this.wrapper = wrapper;
        this.pool = pool;
    }

    /**
     * Opens a pool that makes connections as the hidden one does.
     *
     * @return {@code null} if there is none, or if its connections are not those of the data source
     */
    static @Nullable LimiterConnections copy(DataSource wrapper, String name, int idle, int most) throws SQLException {
        HikariDataSource found;
        String identity;
        try (Connection connection = wrapper.getConnection()) {
            found = behind(connection);
            identity = found == null ? null : identity(connection);
        }
        if (found == null) {
            return null;
        }
        LimiterConnections own;
        try {
            own = OwnPools.like(new HiddenPool(wrapper, found)::current, name, idle, most);
        } catch (LimitStoreException e) {
            log.debug("Borrowing connections, since they cannot be made: {}", LogText.of(e.getMessage()));
            return null;
        }
        if (isOf(own, identity)) {
            return own;
        }
        own.close();
        return null;
    }

    private static boolean isOf(LimiterConnections own, @Nullable String identity) {
        try (Connection connection = own.getConnection()) {
            return identity(connection).equals(identity);
        } catch (SQLException e) {
            log.debug("Borrowing connections, since they cannot be compared: {}", LogText.of(e.getMessage()));
            return false;
        }
    }

    private static String identity(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(IDENTITY)) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }

    private static @Nullable HikariDataSource behind(Connection connection) throws SQLException {
        ProxyConnection proxy = connection instanceof ProxyConnection found
                ? found
                : connection.isWrapperFor(ProxyConnection.class) ? connection.unwrap(ProxyConnection.class) : null;
        if (proxy == null) {
            return null;
        }
        try {
            Object entry = call(ProxyConnection.class, "getPoolEntry", proxy);
            return call(entry.getClass(), "getPoolBase", entry) instanceof HikariPool pool
                            && pool.config instanceof HikariDataSource dataSource
                    ? dataSource
                    : null;
        } catch (ReflectiveOperationException | RuntimeException e) {
            log.debug(
                    "Borrowing connections, since this HikariCP does not show the pool of one: {}",
                    LogText.of(e.toString()));
            return null;
        }
    }

    private static Object call(Class<?> type, String method, Object target) throws ReflectiveOperationException {
        Method found = type.getDeclaredMethod(method);
        found.setAccessible(true);
        return found.invoke(target);
    }

    private HikariDataSource current() {
        HikariDataSource last = pool;
        if (!last.isClosed()) {
            return last;
        }
        try (Connection connection = wrapper.getConnection()) {
            HikariDataSource found = behind(connection);
            pool = found == null ? last : found;
        } catch (SQLException e) {
            log.debug("Keeping the credentials of a closed pool: {}", LogText.of(e.getMessage()));
        }
        return pool;
    }
}
