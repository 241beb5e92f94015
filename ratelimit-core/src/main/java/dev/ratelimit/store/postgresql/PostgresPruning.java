package dev.ratelimit.store.postgresql;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.jdbc.PruningWalk;
import dev.ratelimit.store.jdbc.PruningWalk.Batch;
import dev.ratelimit.store.jdbc.PruningWalk.Table;
import dev.ratelimit.store.postgresql.transaction.PostgresConnections;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the tables in the order of their pages. Expiry has no index: an index on a column that decisions change would
 * end HOT updates. Rows that are locked are live and are skipped. Thread-safe.
 */
final class PostgresPruning {

    private static final int PAGES_PER_STEP = 16;
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final String PAGES = """
            SELECT pg_relation_size('"%s".%s') / current_setting('block_size')::bigint
            """;

    private static final String DELETE = """
            BEGIN ISOLATION LEVEL READ COMMITTED;
            SET LOCAL lock_timeout = '20ms';
            WITH deleted AS (
                DELETE FROM "%1$s".%2$s
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM "%1$s".%2$s
                    WHERE ctid >= format('(%%s,0)', ?::bigint)::tid AND ctid < format('(%%s,0)', ?::bigint)::tid
                      AND %3$s
                        < coalesce(?::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) - ?
                    FOR UPDATE SKIP LOCKED))
                RETURNING 1)
            SELECT (SELECT count(*) FROM deleted), count(*) FROM "%1$s".%2$s
            WHERE ctid >= format('(%%s,0)', ?::bigint)::tid AND ctid < format('(%%s,0)', ?::bigint)::tid;
            COMMIT
            """;

    private final PostgresConnections connections;
    private final String schema;
    private final PruningWalk<Long> walk = new PruningWalk<>(0L);

    PostgresPruning(PostgresConnections connections, String schema) {
        this.connections = connections;
        this.schema = schema;
    }

    /**
     * @param now the time, if it is given
     */
    synchronized Pruned step(@Nullable Long now, long keepMicros) {
        try {
            return walk.step((table, page) -> {
                AtomicReference<@Nullable Batch<Long>> batch = new AtomicReference<>();
                connections.run(connection -> batch.set(step(connection, table, page, now, keepMicros)));
                return batch.get();
            });
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL could not be pruned: " + e.getMessage(), e);
        }
    }

    /**
     * Rows are locked in the order of their pages, but decisions lock them in the order of their keys. So a step must not
     * wait for a decision while it holds rows that another decision waits for. Locked rows are skipped; but PostgreSQL
     * still waits for a row that was just written. Then the step is given up, long before a deadlock would be detected.
     */
    private @Nullable Batch<Long> step(
            Connection connection, Table table, long page, @Nullable Long now, long keepMicros) throws SQLException {
        if (page >= pages(connection, table)) {
            return null;
        }
        try {
            return delete(connection, table, page, now, keepMicros);
        } catch (SQLException e) {
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                PostgresConnections.rollBack(connection);
                return new Batch<>(0, 0, page + PAGES_PER_STEP);
            }
            throw e;
        }
    }

    private long pages(Connection connection, Table table) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(PAGES.formatted(schema, table.tableName()));
                ResultSet row = select.executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    private Batch<Long> delete(Connection connection, Table table, long page, @Nullable Long now, long keepMicros)
            throws SQLException {
        long end = page + PAGES_PER_STEP;
        try (PreparedStatement delete =
                connection.prepareStatement(DELETE.formatted(schema, table.tableName(), table.expiryColumn()))) {
            delete.setLong(1, page);
            delete.setLong(2, end);
            if (now == null) {
                delete.setNull(3, Types.BIGINT);
            } else {
                delete.setLong(3, now);
            }
            delete.setLong(4, keepMicros);
            delete.setLong(5, page);
            delete.setLong(6, end);
            delete.execute();
            delete.getMoreResults(); // after the result of BEGIN
            delete.getMoreResults(); // after that of the setting
            try (ResultSet row = delete.getResultSet()) {
                row.next();
                return new Batch<>(row.getLong(1), row.getLong(2), end);
            }
        }
    }
}
