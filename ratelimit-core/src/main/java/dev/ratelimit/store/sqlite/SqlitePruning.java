package dev.ratelimit.store.sqlite;

import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.PruningWalk;
import dev.ratelimit.store.jdbc.PruningWalk.Batch;
import dev.ratelimit.store.jdbc.PruningWalk.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * Walks over the tables in the order of their keys. A step is so short that a group of requests hardly notices it. Not
 * thread-safe.
 */
final class SqlitePruning {

    private static final int ROWS_PER_STEP = 50;

    private static final String LAST_KEY_OF_STEP = """
            SELECT user_id, resource
            FROM (SELECT user_id, resource FROM %s
                  WHERE (user_id, resource) > (?, ?)
                  ORDER BY user_id, resource
                  LIMIT %d)
            ORDER BY user_id DESC, resource DESC
            LIMIT 1
            """;

    private static final String DELETE = """
            DELETE FROM %s
            WHERE (user_id, resource) > (?, ?) AND (user_id, resource) <= (?, ?) AND %s < ?
            """;

    private final PruningWalk<StateKey> walk = new PruningWalk<>(new StateKey("", ""));

    /**
     * @param connection the one that also decides: writes of another connection would empty its cache
     * @throws SQLException also if another process is writing
     */
    Pruned step(Connection connection, long before) throws SQLException {
        return walk.step((table, after) -> {
            StateKey last = lastKeyOfStep(connection, table, after);
            return last == null
                    ? null
                    : new Batch<>(delete(connection, table, after, last, before), ROWS_PER_STEP, last);
        });
    }

    private static @Nullable StateKey lastKeyOfStep(Connection connection, Table table, StateKey after)
            throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement(LAST_KEY_OF_STEP.formatted(table.tableName(), ROWS_PER_STEP))) {
            select.setString(1, after.subject());
            select.setString(2, after.limit());
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? new StateKey(row.getString(1), row.getString(2)) : null;
            }
        }
    }

    private static long delete(Connection connection, Table table, StateKey after, StateKey last, long before)
            throws SQLException {
        try (Statement transaction = connection.createStatement();
                PreparedStatement delete =
                        connection.prepareStatement(DELETE.formatted(table.tableName(), table.expiryColumn()))) {
            delete.setString(1, after.subject());
            delete.setString(2, after.limit());
            delete.setString(3, last.subject());
            delete.setString(4, last.limit());
            delete.setLong(5, before);
            transaction.execute("BEGIN IMMEDIATE");
            long deleted = delete.executeUpdate();
            transaction.execute("COMMIT");
            return deleted;
        }
    }

    /** Busy or locked, for any of SQLite's extended reasons. */
    static boolean isBusy(SQLException e) {
        if (!(e instanceof SQLiteException sqlite)) {
            return false;
        }
        int primary = sqlite.getResultCode().code & 0xff;
        return primary == SQLiteErrorCode.SQLITE_BUSY.code || primary == SQLiteErrorCode.SQLITE_LOCKED.code;
    }
}
