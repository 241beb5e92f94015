package dev.ratelimit.store.jdbc;

import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the tables with expiring rows, one after the other, in batches of a few rows. Not thread-safe.
 *
 * @param <P> a position in a table
 */
public final class PruningWalk<P> {

    /** A table with expiring rows. */
    public enum Table {
        STATES("rate_limits", "expires_at"),
        PENALTIES("rate_limit_penalties", "forget_at");

        private final String tableName;
        private final String expiryColumn;

        Table(String tableName, String expiryColumn) {
            this.tableName = tableName;
            this.expiryColumn = expiryColumn;
        }

        public String tableName() {
            return tableName;
        }

        /** The column with the moment at which a row expires. */
        public String expiryColumn() {
            return expiryColumn;
        }
    }

    /**
     * A few rows of a table.
     *
     * @param deleted the number of deleted rows
     * @param lookedAt the number of rows that the batch has come past
     * @param next the position of the next batch
     */
    public record Batch<P>(long deleted, long lookedAt, P next) {}

    /** Deletes expired rows in one kind of database. */
    @FunctionalInterface
    public interface Pruning<P> {

        /**
         * Deletes the expired rows among the next few of the table.
         *
         * @return {@code null} at the end of the table
         */
        @Nullable
        Batch<P> deleteExpired(Table table, P from) throws SQLException;
    }

    private final P beginning;
    private Table table = Table.STATES;
    private P position;

    /**
     * @param beginning the position before the first row of a table
     */
    public PruningWalk(P beginning) {
        this.beginning = beginning;
        this.position = beginning;
    }

    /** Prunes one batch. If that fails, the next call does it again. */
    public Pruned step(Pruning<P> pruning) throws SQLException {
        Batch<P> batch = pruning.deleteExpired(table, position);
        if (batch == null) {
            return turn();
        }
        position = batch.next();
        Progress more = Pruned.more(batch.deleted(), batch.lookedAt());
        return table == Table.STATES ? new Pruned(batch.deleted(), 0, more) : new Pruned(0, batch.deleted(), more);
    }

    private Pruned turn() {
        boolean finished = table == Table.PENALTIES;
        table = finished ? Table.STATES : Table.PENALTIES;
        position = beginning;
        return new Pruned(0, 0, finished ? Progress.FINISHED : Progress.MORE);
    }
}
