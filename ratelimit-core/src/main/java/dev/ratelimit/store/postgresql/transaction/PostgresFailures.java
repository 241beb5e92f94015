package dev.ratelimit.store.postgresql.transaction;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.UnreachedStoreException;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Failures of the database, with advice where the cause is known. */
public final class PostgresFailures {

    /** The table or the schema does not exist. */
    private static final Set<String> MISSING_SCHEMA = Set.of("42P01", "3F000");

    private PostgresFailures() {}

    /** Nothing was decided; if there was not even a connection, that is sure. */
    public static LimitStoreException ofAll(SQLException e, String schema) {
        LimitStoreException failure = of(e, schema, List.of());
        return PostgresConnections.isUnconnected(e)
                ? new UnreachedStoreException(String.valueOf(failure.getMessage()), e)
                : failure;
    }

    /**
     * @param answers in the order of the group, {@code null} where an operation was not decided
     */
    public static LimitStoreException of(SQLException e, String schema, List<@Nullable Answer> answers) {
        return new LimitStoreException(
                "PostgreSQL failed: " + e.getMessage() + advice(String.valueOf(e.getSQLState()), schema), answers, e);
    }

    private static String advice(String sqlState, String schema) {
        if (MISSING_SCHEMA.contains(sqlState)) {
            return "; Schema.migrate has not been run on schema " + schema;
        }
        return PostgresConnections.READ_ONLY.equals(sqlState)
                ? "; connect to the primary: if the JDBC URL names several hosts, add targetServerType=primary to it"
                : "";
    }
}
