package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.jdbc.PruningWalk;
import dev.ratelimit.store.jdbc.PruningWalk.Batch;
import dev.ratelimit.store.jdbc.PruningWalk.Table;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import dev.ratelimit.support.Micros;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the tables in the order of their keys. A row is deleted only if it is still as it was read. Rows are deleted in
 * the order in which decisions write them. Thread-safe.
 */
final class KeyOrderPruning {

    private static final int ROWS_PER_STEP = 500;
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final String READ = """
            %4$s;
            SELECT user_id, resource, %3$s
            FROM "%1$s".%2$s
            WHERE (user_id, resource) > (?, ?)
            ORDER BY user_id, resource
            LIMIT ?
            """;

    private static final String BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = 20";

    private static final String DELETE = """
            DELETE FROM "%1$s".%2$s WHERE user_id = ? AND resource = ? AND %3$s = ?
            """;

    private record Expiring(StateKey key, long expiry) {}

    private final PostgresConnections connections;
    private final String schema;
    private final @Nullable InstantSource clock;
    private final PruningWalk<StateKey> walk = new PruningWalk<>(new StateKey("", ""));

    /**
     * @param clock the time, if it is given
     */
    KeyOrderPruning(PostgresConnections connections, String schema, @Nullable InstantSource clock) {
        this.connections = connections;
        this.schema = schema;
        this.clock = clock;
    }

    synchronized Pruned step(long keepMicros) {
        try {
            return walk.step((table, from) -> {
                AtomicReference<@Nullable Batch<StateKey>> batch = new AtomicReference<>();
                connections.run(connection -> batch.set(step(connection, table, from, keepMicros)));
                return batch.get();
            });
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL could not be pruned: " + e.getMessage(), e);
        }
    }

    private @Nullable Batch<StateKey> step(Connection connection, Table table, StateKey from, long keepMicros)
            throws SQLException {
        List<Expiring> rows = new ArrayList<>();
        long now = read(connection, table, from, rows);
        if (rows.isEmpty()) {
            return null;
        }
        StateKey last = rows.get(rows.size() - 1).key();
        List<Expiring> expired = rows.stream()
                .filter(row -> row.expiry() < now - keepMicros)
                .sorted(Comparator.comparing(Expiring::key, KeyOrder.BY_CODE_POINTS))
                .toList();
        return new Batch<>(expired.isEmpty() ? 0 : delete(connection, table, expired), rows.size(), last);
    }

    /** Returns the clock. */
    private long read(Connection connection, Table table, StateKey from, List<Expiring> rows) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(
                READ.formatted(schema, table.tableName(), table.expiryColumn(), SwapStatements.CLOCK))) {
            select.setString(1, from.subject());
            select.setString(2, from.limit());
            select.setInt(3, ROWS_PER_STEP);
            select.execute();
            long now;
            try (ResultSet row = select.getResultSet()) {
                row.next();
                now = clock == null ? row.getLong(1) : Micros.of(clock.instant());
            }
            select.getMoreResults();
            try (ResultSet row = select.getResultSet()) {
                while (row.next()) {
                    rows.add(new Expiring(SwapRows.key(row), row.getLong(3)));
                }
            }
            return now;
        }
    }

    /** A row that somebody holds is live: then the step is given up. */
    private long delete(Connection connection, Table table, List<Expiring> expired) throws SQLException {
        long deleted = 0;
        try (PreparedStatement begin = connection.prepareStatement(BEGIN);
                PreparedStatement delete =
                        connection.prepareStatement(DELETE.formatted(schema, table.tableName(), table.expiryColumn()));
                PreparedStatement commit = connection.prepareStatement("COMMIT")) {
            begin.execute();
            for (Expiring row : expired) {
                delete.setString(1, row.key().subject());
                delete.setString(2, row.key().limit());
                delete.setLong(3, row.expiry());
                delete.addBatch();
            }
            for (int count : delete.executeBatch()) {
                deleted += Math.max(0, count);
            }
            commit.execute();
            return deleted;
        } catch (SQLException e) {
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                PostgresConnections.rollBack(connection);
                return 0;
            }
            throw e;
        }
    }
}
