package dev.ratelimit.store.jdbc;

import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The one place that turns a row of {@code rate_limits} into a state, and a row of {@code rate_limit_penalties} into violations. */
public final class StateColumns {

    /** The columns that a decision reads. It does not need the expiry. */
    public static final String READ =
            "algorithm, window_start, window_size, request_count, previous_count, tokens, log,"
                    + " blocked_until, last_request_at, last_allowed_at, capacity";

    /** How many they are. */
    public static final int COUNT = 11;

    /** All columns of a state, for a store that may write it again as it is. */
    public static final String READ_WHOLE = READ + ", expires_at";

    /** The beginning of the algorithm of a row whose key has left for another shard. */
    public static final String MOVED = "moved:";

    /** The columns of the violations. */
    public static final String READ_VIOLATIONS =
            "violation_count, last_violation_at, penalty_until, penalty_duration, forget_at";

    private StateColumns() {}

    /** Whether the key of a row with this algorithm has left for another shard. */
    public static boolean isMoved(String algorithm) {
        return algorithm.startsWith(MOVED);
    }

    /**
     * Reads the columns of {@link #READ}. Columns that the algorithm of the row does not use are left alone: every value
     * that is read is a call into the driver.
     *
     * @param first the number of the first of the columns
     */
    public static State read(ResultSet row, int first) throws SQLException {
        String algorithm = row.getString(first);
        return new State(
                algorithm,
                count(row, first, Algorithms.layoutOf(algorithm)),
                row.getLong(first + 10),
                row.getLong(first + 7),
                row.getLong(first + 8),
                row.getLong(first + 9),
                0);
    }

    /**
     * Reads the columns of {@link #READ_WHOLE}. A row that was reset, or that only marks a key, has no algorithm: its state is
     * fresh.
     *
     * @param first the number of the first of the columns
     */
    public static State readWhole(ResultSet row, int first) throws SQLException {
        if (row.getString(first).isEmpty()) {
            return State.FRESH;
        }
        byte[] moments = row.getBytes(first + 6);
        return new State(
                row.getString(first),
                new Count(
                        row.getLong(first + 1),
                        row.getLong(first + 2),
                        row.getLong(first + 3),
                        row.getLong(first + 4),
                        row.getLong(first + 5),
                        moments == null ? Log.EMPTY : Log.of(moments)),
                row.getLong(first + 10),
                row.getLong(first + 7),
                row.getLong(first + 8),
                row.getLong(first + 9),
                row.getLong(first + COUNT));
    }

    /**
     * Reads the columns of {@link #READ_VIOLATIONS}; there are none if the columns are null.
     *
     * @param first the number of the first of the columns
     */
    public static Violations readViolations(ResultSet row, int first) throws SQLException {
        long counted = row.getLong(first);
        return counted == 0
                ? Violations.NONE
                : new Violations(
                        counted,
                        row.getLong(first + 1),
                        row.getLong(first + 2),
                        row.getLong(first + 3),
                        row.getLong(first + 4));
    }

    private static Count count(ResultSet row, int first, Count.@Nullable Layout layout) throws SQLException {
        boolean window = layout == Count.Layout.WINDOW;
        byte[] moments = layout == Count.Layout.LOG ? row.getBytes(first + 6) : null;
        return new Count(
                window ? row.getLong(first + 1) : 0,
                row.getLong(first + 2),
                window ? row.getLong(first + 3) : 0,
                window ? row.getLong(first + 4) : 0,
                layout == Count.Layout.BUCKET ? row.getLong(first + 5) : 0,
                moments == null ? Log.EMPTY : Log.of(moments));
    }
}
