package dev.ratelimit.connection;

import dev.ratelimit.store.LimitStoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** Connections to a database that is unavailable at startup: each use tries to open them until it works. */
public final class LaterConnections extends AbstractDataSource implements AutoCloseable {

    private final Supplier<LimiterConnections> opening;
    private @Nullable LimiterConnections opened;
    private boolean closed;

    public LaterConnections(Supplier<LimiterConnections> opening) {
        this.opening = opening;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return connections().getConnection();
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }

    private synchronized LimiterConnections connections() throws SQLException {
        if (closed) {
            throw new SQLTransientConnectionException("the limiter is closed");
        }
        if (opened == null) {
            try {
                opened = opening.get();
            } catch (LimitStoreException e) {
                throw new SQLTransientConnectionException(e.getMessage(), e);
            }
        }
        return opened;
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (opened != null) {
            opened.close();
        }
    }
}
