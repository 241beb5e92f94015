package dev.ratelimit.connection;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.springframework.util.ClassUtils;

/** Finds the connection of the PostgreSQL driver behind others. */
final class PostgresDriver {

    /** After so many executions the server keeps a statement prepared, if nobody has set anything else. */
    static final int DEFAULT_PREPARE_THRESHOLD = 5;

    private static final boolean PRESENT =
            ClassUtils.isPresent("org.postgresql.PGConnection", PostgresDriver.class.getClassLoader());

    private PostgresDriver() {}

    /** {@code null} if the connection is of another driver, or does not show it. */
    static @Nullable PGConnection behind(Connection connection) throws SQLException {
        return PRESENT && connection.isWrapperFor(PGConnection.class) ? connection.unwrap(PGConnection.class) : null;
    }
}
