package dev.ratelimit.store.jdbc;

import java.time.Duration;

/**
 * The statements. Those of the Java path have arrays as parameters, with one element for each key.
 *
 * <p>All statements that lock rows lock them in the order of their keys.
 */
final class PostgresStatements {

    /** In microseconds: from a double, which is exact once it is rounded, and cheaper than a numeric. */
    static final String CLOCK = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

    /** The settings of one transaction. A cached plan that reads whole tables would be a trap as these grow. */
    private static final String BEGIN = """
            BEGIN ISOLATION LEVEL READ COMMITTED;
            SELECT set_config('lock_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true),
                   set_config('enable_seqscan', 'off', true)%s;
            """;

    /** The same as a condition of the one statement that is the transaction. */
    private static final String SETTINGS = "(SELECT concat(set_config('lock_timeout', '%d', true)%s)) IS NOT NULL";

    private static final String IDLE_TIMEOUT = ", set_config('idle_in_transaction_session_timeout', '%d', true)";

    private static final String WITHOUT_WAITING_FOR_THE_DISK = ", set_config('synchronous_commit', 'off', true)";

    /** Locks the rows, and makes those that do not exist. Where the row exists, nothing of it is changed. */
    private static final String LOCK = """
            INSERT INTO "%1$s".rate_limits AS state (user_id, resource)
            SELECT key.subject, key.resource
            FROM unnest(?::text[], ?::text[]) AS key (subject, resource)
            ORDER BY key.subject COLLATE "C", key.resource COLLATE "C"
            ON CONFLICT (user_id, resource) DO UPDATE SET algorithm = state.algorithm WHERE false
            """;

    private static final String READ = """
            SELECT moment.now, key.number, %3$s,
                   violation_count, last_violation_at, penalty_until, penalty_duration, forget_at
            FROM (SELECT %2$s AS now OFFSET 0) moment
            CROSS JOIN unnest(?::text[], ?::text[]) WITH ORDINALITY AS key (subject, resource, number)
            LEFT JOIN LATERAL (
                SELECT %3$s
                FROM "%1$s".rate_limits
                WHERE user_id = key.subject AND resource = key.resource
                OFFSET 0
            ) state ON true
            LEFT JOIN LATERAL (
                SELECT violation_count, last_violation_at, penalty_until, penalty_duration, forget_at
                FROM "%1$s".rate_limit_penalties
                WHERE user_id = key.subject AND resource = key.resource
                OFFSET 0
            ) penalty ON true
            """;

    private static final String WRITE_STATES = """
            INSERT INTO "%1$s".rate_limits
                (user_id, resource, algorithm, window_start, window_size, capacity, request_count, previous_count, tokens,
                 log, blocked_until, last_request_at, last_allowed_at, expires_at)
            SELECT *
            FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
                        ?::bigint[], ?::bytea[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
            ON CONFLICT (user_id, resource) DO UPDATE
            SET algorithm = excluded.algorithm, window_start = excluded.window_start, window_size = excluded.window_size,
                capacity = excluded.capacity, request_count = excluded.request_count,
                previous_count = excluded.previous_count, tokens = excluded.tokens, log = excluded.log,
                blocked_until = excluded.blocked_until, last_request_at = excluded.last_request_at,
                last_allowed_at = excluded.last_allowed_at, expires_at = excluded.expires_at
            """;

    private static final String WRITE_PENALTIES = """
            INSERT INTO "%1$s".rate_limit_penalties
                (user_id, resource, violation_count, last_violation_at, penalty_until, penalty_duration, forget_at)
            SELECT *
            FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
            ON CONFLICT (user_id, resource) DO UPDATE
            SET violation_count = excluded.violation_count, last_violation_at = excluded.last_violation_at,
                penalty_until = excluded.penalty_until, penalty_duration = excluded.penalty_duration,
                forget_at = excluded.forget_at
            """;

    private static final String DELETE = """
            DELETE FROM "%1$s".%2$s row
            USING unnest(?::text[], ?::text[]) AS key (subject, resource)
            WHERE row.user_id = key.subject AND row.resource = key.resource
            """;

    /** The rows that nobody else holds; the others are passed over. */
    private static final String FREE = """
            SELECT state.user_id, state.resource
            FROM unnest(?::text[], ?::text[]) AS key (subject, resource)
            JOIN "%1$s".rate_limits state ON state.user_id = key.subject AND state.resource = key.resource
            FOR UPDATE OF state SKIP LOCKED
            """;

    private static final String EXISTING = """
            SELECT state.user_id, state.resource
            FROM unnest(?::text[], ?::text[]) AS key (subject, resource)
            JOIN "%1$s".rate_limits state ON state.user_id = key.subject AND state.resource = key.resource
            """;

    private final String schema;
    private final String clock;
    private final String settings;

    /** Begins a transaction, locks the rows and reads them, with the clock: one round trip. */
    final String beginAndRead;

    /** Reads the rows without locking them. */
    final String read;

    final String writeStates;
    final String writePenalties;
    final String deleteStates;
    final String deletePenalties;
    final String free;
    final String existing;

    /**
     * @param lockTimeout how long to wait for a row that somebody else holds
     * @param idleTimeout how long a transaction may be left alone by this process before the database ends it
     * @param onGivenClock whether the time is a parameter instead of the clock of the database
     */
    PostgresStatements(
            String schema, boolean durable, Duration lockTimeout, Duration idleTimeout, boolean onGivenClock) {
        this.schema = schema;
        this.clock = onGivenClock ? ":now::bigint" : CLOCK;
        this.settings = SETTINGS.formatted(
                lockTimeout.toMillis(),
                IDLE_TIMEOUT.formatted(idleTimeout.toMillis()) + (durable ? "" : WITHOUT_WAITING_FOR_THE_DISK));
        this.read = READ.formatted(schema, onGivenClock ? "?::bigint" : CLOCK, StateColumns.READ);
        this.beginAndRead = BEGIN.formatted(
                        lockTimeout.toMillis(), idleTimeout.toMillis(), durable ? "" : WITHOUT_WAITING_FOR_THE_DISK)
                + LOCK.formatted(schema) + ";" + read;
        this.writeStates = WRITE_STATES.formatted(schema);
        this.writePenalties = WRITE_PENALTIES.formatted(schema);
        this.deleteStates = DELETE.formatted(schema, "rate_limits");
        this.deletePenalties = DELETE.formatted(schema, "rate_limit_penalties");
        this.free = FREE.formatted(schema);
        this.existing = EXISTING.formatted(schema);
    }

    /** The statement that admits what has room. */
    AdmissionStatement admission(AdmissionShape shape) {
        return AdmissionStatement.of(shape, schema, clock, settings);
    }
}
