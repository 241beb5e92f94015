package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.PenaltyUpsert;
import dev.ratelimit.store.jdbc.StateColumns;
import dev.ratelimit.store.swap.SwapChange;
import dev.ratelimit.store.swap.SwapRow;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Reads and binds the columns of both tables. */
final class SwapRows {

    private SwapRows() {}

    /** Binds the subjects and the limits of the keys, each once. */
    static int bindKeys(PreparedStatement statement, int first, Collection<StateKey> keys) throws SQLException {
        statement.setObject(
                first, keys.stream().map(StateKey::subject).distinct().toArray(String[]::new));
        statement.setObject(
                first + 1, keys.stream().map(StateKey::limit).distinct().toArray(String[]::new));
        return first + 2;
    }

    static Map<StateKey, SwapRow> states(ResultSet row) throws SQLException {
        Map<StateKey, SwapRow> rows = new HashMap<>();
        while (row.next()) {
            State state = StateColumns.readWhole(row, 3);
            rows.put(key(row), new SwapRow(state, Violations.NONE, row.getLong(4 + StateColumns.COUNT)));
        }
        return rows;
    }

    static Map<StateKey, Violations> violations(ResultSet row) throws SQLException {
        Map<StateKey, Violations> rows = new HashMap<>();
        while (row.next()) {
            rows.put(key(row), StateColumns.readViolations(row, 3));
        }
        return rows;
    }

    static StateKey key(ResultSet row) throws SQLException {
        return new StateKey(row.getString(1), row.getString(2));
    }

    /** One row of a change. */
    record Changed(SwapChange change, SwapChange.Row row) {}

    /** Binds states, their new versions and the mark. */
    static int bindStates(PreparedStatement statement, List<Changed> rows) throws SQLException {
        int next = 1;
        next = bindTexts(statement, next, rows, one -> one.row().key().subject());
        next = bindTexts(statement, next, rows, one -> one.row().key().limit());
        next = bindTexts(statement, next, rows, one -> one.row().state().algorithm());
        next = bind(statement, next, rows, one -> one.row().state().count().start());
        next = bind(statement, next, rows, one -> one.row().state().count().size());
        next = bind(statement, next, rows, one -> one.row().state().capacity());
        next = bind(statement, next, rows, one -> one.row().state().count().used());
        next = bind(statement, next, rows, one -> one.row().state().count().previous());
        next = bind(statement, next, rows, one -> one.row().state().count().tokens());
        statement.setObject(next++, rows.stream().map(SwapRows::log).toArray(byte[][]::new));
        next = bind(statement, next, rows, one -> one.row().state().blockedUntil());
        next = bind(statement, next, rows, one -> one.row().state().last());
        next = bind(statement, next, rows, one -> one.row().state().lastAllowed());
        next = bind(statement, next, rows, one -> one.row().state().expiresAt());
        next = bind(statement, next, rows, one -> one.change().versionOf(one.row()));
        statement.setLong(next++, rows.get(0).change().mark());
        return next;
    }

    @SuppressWarnings("NullAway") // an element of the array may be null
    private static byte[] log(Changed one) {
        Log log = one.row().state().count().log();
        return log.equals(Log.EMPTY) ? null : log.toBytes();
    }

    static int bindViolations(PreparedStatement statement, int first, List<Changed> rows) throws SQLException {
        Map<StateKey, Violations> violations = new LinkedHashMap<>();
        rows.forEach(one -> violations.put(one.row().key(), one.row().violations()));
        return PenaltyUpsert.bind(statement, first, violations);
    }

    private static int bindTexts(
            PreparedStatement statement, int at, List<Changed> rows, Function<Changed, String> column)
            throws SQLException {
        statement.setObject(at, rows.stream().map(column).toArray(String[]::new));
        return at + 1;
    }

    private static int bind(PreparedStatement statement, int at, List<Changed> rows, ToLongFunction<Changed> column)
            throws SQLException {
        statement.setObject(at, rows.stream().mapToLong(column).toArray());
        return at + 1;
    }
}
