package dev.ratelimit.store.sqlite;

import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.store.StateKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * Walks over the tables in the order of their keys, so few rows a step that a group of requests hardly notices. Not
 * thread-safe.
 */
final class SqlitePruning {

    private static final int ROWS_PER_STEP = 50;

    private enum Table {
        STATES("rate_limits", "expires_at"),
        PENALTIES("rate_limit_penalties", "forget_at");

        private final String lastKeyOfStep;
        private final String delete;

        Table(String table, String expiry) {
            this.lastKeyOfStep = """
                    SELECT user_id, resource
                    FROM (SELECT user_id, resource FROM %s
                          WHERE (user_id, resource) > (?, ?)
                          ORDER BY user_id, resource
                          LIMIT %d)
                    ORDER BY user_id DESC, resource DESC
                    LIMIT 1
                    """.formatted(table, ROWS_PER_STEP);
            this.delete = """
                    DELETE FROM %s
                    WHERE (user_id, resource) > (?, ?) AND (user_id, resource) <= (?, ?) AND %s < ?
                    """.formatted(table, expiry);
        }
    }

    private static final StateKey BEGINNING = new StateKey("", "");

    private Table table = Table.STATES;
    private StateKey after = BEGINNING;

    /**
     * @param connection the one that decides, too: what another one writes would empty its cache
     * @throws SQLException also if another process is writing
     */
    Pruned step(Connection connection, long before) throws SQLException {
        StateKey last = lastKeyOfStep(connection);
        if (last == null) {
            boolean finished = table == Table.PENALTIES;
            table = finished ? Table.STATES : Table.PENALTIES;
            after = BEGINNING;
            return new Pruned(0, 0, finished ? Progress.FINISHED : Progress.MORE);
        }
        long deleted = delete(connection, last, before);
        after = last;
        Progress more = Pruned.more(deleted, ROWS_PER_STEP);
        return table == Table.STATES ? new Pruned(deleted, 0, more) : new Pruned(0, deleted, more);
    }

    private @Nullable StateKey lastKeyOfStep(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(table.lastKeyOfStep)) {
            select.setString(1, after.subject());
            select.setString(2, after.limit());
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? new StateKey(row.getString(1), row.getString(2)) : null;
            }
        }
    }

    private long delete(Connection connection, StateKey last, long before) throws SQLException {
        try (Statement transaction = connection.createStatement();
                PreparedStatement delete = connection.prepareStatement(table.delete)) {
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

    /** Busy or locked, for whatever of SQLite's extended reasons. */
    static boolean isBusy(SQLException e) {
        if (!(e instanceof SQLiteException sqlite)) {
            return false;
        }
        int primary = sqlite.getResultCode().code & 0xff;
        return primary == SQLiteErrorCode.SQLITE_BUSY.code || primary == SQLiteErrorCode.SQLITE_LOCKED.code;
    }
}
