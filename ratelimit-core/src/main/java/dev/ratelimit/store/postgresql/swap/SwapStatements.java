package dev.ratelimit.store.postgresql.swap;

import dev.ratelimit.store.jdbc.PenaltyUpsert;
import dev.ratelimit.store.jdbc.StateColumns;
import java.time.Duration;

/**
 * The statements. They use nothing that a database of another make may lack: no row locks but those of a write itself, no
 * function in a write, no lateral joins.
 */
final class SwapStatements {

    /** In microseconds since the epoch. */
    static final String CLOCK = "SELECT (date_part('epoch', clock_timestamp()) * 1000000)::bigint";

    /** A write waits no longer than that for another one, and a paused instance does not hold others up for longer. */
    private static final String BEGIN = """
            BEGIN ISOLATION LEVEL READ COMMITTED;
            SET LOCAL lock_timeout = %d;
            SET LOCAL idle_in_transaction_session_timeout = %d;
            """;

    private static final String WITHOUT_WAITING_FOR_THE_DISK = "SET LOCAL synchronous_commit = off;\n";

    /** Also finds rows of other pairs of these subjects and limits; they are few, and ignored. */
    private static final String READ_STATES = """
            SELECT user_id, resource, %2$s, version
            FROM "%1$s".rate_limits
            WHERE user_id = ANY (?::text[]) AND resource = ANY (?::text[])
            """;

    private static final String READ_PENALTIES = """
            SELECT user_id, resource, violation_count, last_violation_at, penalty_until, penalty_duration, forget_at
            FROM "%1$s".rate_limit_penalties
            WHERE user_id = ANY (?::text[]) AND resource = ANY (?::text[])
            """;

    /**
     * The last parameter is the mark of the change: a row is written if its version is the one that it was read with. Zero is
     * the version of no row, and no row has it: so a new row is written only if there is none.
     */
    private static final String SWAP = """
            INSERT INTO "%1$s".rate_limits AS state
                (user_id, resource, algorithm, window_start, window_size, capacity, request_count, previous_count, tokens,
                 log, blocked_until, last_request_at, last_allowed_at, expires_at, version)
            SELECT *
            FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
                        ?::bigint[], ?::bytea[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
            ON CONFLICT (user_id, resource) DO UPDATE
            SET algorithm = excluded.algorithm, window_start = excluded.window_start, window_size = excluded.window_size,
                capacity = excluded.capacity, request_count = excluded.request_count,
                previous_count = excluded.previous_count, tokens = excluded.tokens, log = excluded.log,
                blocked_until = excluded.blocked_until, last_request_at = excluded.last_request_at,
                last_allowed_at = excluded.last_allowed_at, expires_at = excluded.expires_at, version = excluded.version
            WHERE state.version = (excluded.version # ?::bigint)
            RETURNING state.user_id, state.resource
            """;

    private static final String DELETE_PENALTY = """
            DELETE FROM "%1$s".rate_limit_penalties WHERE user_id = ? AND resource = ?;
            """;

    final String schema;

    /** Reads the clock, then the states. */
    final String read;

    /** Reads the clock, then the states, then the penalties: these must not be older. */
    final String readWithPenalties;

    /** How many results come before that of a statement after {@code BEGIN}. */
    final int settings;

    /** A whole transaction: swaps states. */
    final String swapAndCommit;

    /** Begins a transaction, swaps states, and reads penalties of the rows that are held by now. */
    final String beginAndSwap;

    final String writePenalties;
    final String deletePenalty;

    /**
     * @param bound how long one call may take
     */
    SwapStatements(String schema, Duration bound, boolean durable) {
        this.schema = schema;
        this.read = CLOCK + ";\n" + READ_STATES.formatted(schema, StateColumns.READ_WHOLE);
        this.readWithPenalties = read + ";\n" + READ_PENALTIES.formatted(schema);
        String begin = BEGIN.formatted(Math.max(1, bound.toMillis() / 2), Math.max(1, bound.toMillis()))
                + (durable ? "" : WITHOUT_WAITING_FOR_THE_DISK);
        this.settings = durable ? 3 : 4;
        String swap = begin + SWAP.formatted(schema);
        this.swapAndCommit = swap + ";\nCOMMIT";
        this.beginAndSwap = swap + ";\n" + READ_PENALTIES.formatted(schema);
        this.writePenalties = PenaltyUpsert.sql(schema);
        this.deletePenalty = DELETE_PENALTY.formatted(schema);
    }
}
