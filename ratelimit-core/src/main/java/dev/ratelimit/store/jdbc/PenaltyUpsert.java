package dev.ratelimit.store.jdbc;

import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.StateKey;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import java.util.function.ToLongFunction;

/** Writes violations to {@code rate_limit_penalties} on PostgreSQL: by locks and by swaps, they are the same rows. */
public final class PenaltyUpsert {

    private static final String SQL = """
            INSERT INTO "%s".rate_limit_penalties
                (user_id, resource, violation_count, last_violation_at, penalty_until, penalty_duration, forget_at)
            SELECT *
            FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
            ON CONFLICT (user_id, resource) DO UPDATE
            SET violation_count = excluded.violation_count, last_violation_at = excluded.last_violation_at,
                penalty_until = excluded.penalty_until, penalty_duration = excluded.penalty_duration,
                forget_at = excluded.forget_at;
            """;

    private PenaltyUpsert() {}

    /** The statement, with the semicolon that ends it. */
    public static String sql(String schema) {
        return SQL.formatted(schema);
    }

    /**
     * Binds the parameters of {@link #sql}.
     *
     * @param first the number of the first parameter
     * @return the number of the parameter after the last one
     */
    public static int bind(PreparedStatement statement, int first, Map<StateKey, Violations> rows) throws SQLException {
        statement.setObject(first, rows.keySet().stream().map(StateKey::subject).toArray(String[]::new));
        statement.setObject(
                first + 1, rows.keySet().stream().map(StateKey::limit).toArray(String[]::new));
        bind(statement, first + 2, rows.values(), Violations::count);
        bind(statement, first + 3, rows.values(), Violations::lastAt);
        bind(statement, first + 4, rows.values(), Violations::penaltyUntil);
        bind(statement, first + 5, rows.values(), Violations::penaltyDuration);
        bind(statement, first + 6, rows.values(), Violations::forgetAt);
        return first + 7;
    }

    private static void bind(
            PreparedStatement statement, int at, Collection<Violations> rows, ToLongFunction<Violations> column)
            throws SQLException {
        statement.setObject(at, rows.stream().mapToLong(column).toArray());
    }
}
