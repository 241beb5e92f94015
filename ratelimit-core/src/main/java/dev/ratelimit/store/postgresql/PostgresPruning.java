package dev.ratelimit.store.postgresql;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the pages of the tables, so many a step: expiry has no index, since an index on a column that decisions
 * change would end HOT updates. Rows that somebody holds are live and are passed over.
 */
final class PostgresPruning {

    private static final int PAGES_PER_STEP = 16;
    private static final Duration LONGEST_WAIT = Duration.ofMillis(20);
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private enum Table {
        STATES("rate_limits", "expires_at"),
        PENALTIES("rate_limit_penalties", "forget_at");

        private final String table;
        private final String expiry;

        Table(String table, String expiry) {
            this.table = table;
            this.expiry = expiry;
        }

        String pages(String schema) {
            return """
                    SELECT pg_relation_size('"%s".%s') / current_setting('block_size')::bigint
                    """.formatted(schema, table);
        }

        String delete(String schema) {
            return """
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
                    WHERE ctid >= format('(%%s,0)', ?::bigint)::tid AND ctid < format('(%%s,0)', ?::bigint)::tid
                    """.formatted(schema, table, expiry);
        }
    }

    private final DataSource dataSource;
    private final String schema;
    private Table table = Table.STATES;
    private long page;

    PostgresPruning(DataSource dataSource, String schema) {
        this.dataSource = dataSource;
        this.schema = schema;
    }

    /** Rows. */
    private record Step(long deleted, long lookedAt) {

        static final Step GIVEN_UP = new Step(0, 0);
    }

    synchronized Pruned step(@Nullable Long now, long keepMicros) {
        try (Connection connection = dataSource.getConnection()) {
            if (!connection.getAutoCommit()) {
                connection.setAutoCommit(true);
            }
            if (page >= pages(connection)) {
                boolean finished = table == Table.PENALTIES;
                table = finished ? Table.STATES : Table.PENALTIES;
                page = 0;
                return new Pruned(0, 0, finished ? Progress.FINISHED : Progress.MORE);
            }
            Step step = delete(connection, now, keepMicros);
            page += PAGES_PER_STEP;
            Progress more = Pruned.more(step.deleted(), step.lookedAt());
            return table == Table.STATES ? new Pruned(step.deleted(), 0, more) : new Pruned(0, step.deleted(), more);
        } catch (SQLException e) {
            throw new LimitStoreException("PostgreSQL could not be pruned: " + e.getMessage(), e);
        }
    }

    private long pages(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(table.pages(schema));
                ResultSet row = select.executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    /**
     * Rows are locked in the order of their pages, decisions lock them in the order of their keys: so nothing here may wait
     * for a decision while it holds rows that another decision waits for. Rows that are locked are skipped; but where a
     * row has just been written, PostgreSQL waits all the same. Then the step is given up, long before a deadlock could be
     * found.
     */
    private Step delete(Connection connection, @Nullable Long now, long keepMicros) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL lock_timeout = " + LONGEST_WAIT.toMillis());
            Step step = deleteExpired(connection, now, keepMicros);
            connection.commit();
            return step;
        } catch (SQLException e) {
            connection.rollback();
            if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                return Step.GIVEN_UP;
            }
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    private Step deleteExpired(Connection connection, @Nullable Long now, long keepMicros) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement(table.delete(schema))) {
            delete.setLong(1, page);
            delete.setLong(2, page + PAGES_PER_STEP);
            if (now == null) {
                delete.setNull(3, Types.BIGINT);
            } else {
                delete.setLong(3, now);
            }
            delete.setLong(4, keepMicros);
            delete.setLong(5, page);
            delete.setLong(6, page + PAGES_PER_STEP);
            try (ResultSet row = delete.executeQuery()) {
                row.next();
                return new Step(row.getLong(1), row.getLong(2));
            }
        }
    }
}
