package dev.ratelimit.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Bounds the time that a server may be silent. Without it, a thread waits for a frozen server until its system gives up. */
public final class Silence {

    private Silence() {}

    /** Until the connection goes back to its pool, which puts the setting back. Returns the connection if that fails. */
    static void bound(Connection connection, @Nullable Duration longest) throws SQLException {
        if (longest == null) {
            return;
        }
        try {
            connection.setNetworkTimeout(Runnable::run, Math.toIntExact(longest.toMillis()));
        } catch (SQLException | RuntimeException e) {
            try (connection) {
                throw e;
            }
        }
    }

    /** The same connections, for work with another bound. */
    public static DataSource bound(DataSource connections, Duration longest) {
        return new DelegatingDataSource(connections) {

            @Override
            public Connection getConnection() throws SQLException {
                Connection connection =
                        Objects.requireNonNull(getTargetDataSource()).getConnection();
                bound(connection, longest);
                return connection;
            }
        };
    }
}
