package dev.ratelimit.store.postgresql;

import dev.ratelimit.store.jdbc.PenaltyUpsert;
import dev.ratelimit.store.jdbc.StateColumns;
import dev.ratelimit.store.postgresql.admission.AdmissionShape;
import dev.ratelimit.store.postgresql.admission.AdmissionStatement;
import java.time.Duration;

/**
 * The statements. Those of the Java path have arrays as parameters, with one element for each key.
 *
 * <p>All statements that lock rows lock them in the order of their keys. All that write a state also change its version, for
 * instances that decide by swaps. A new row begins with the clock, so that a row that is deleted and comes again never has a
 * version that it had before.
 */
final class PostgresStatements {

    /** In microseconds: from a double, which is exact once it is rounded, and cheaper than a numeric. */
    static final String CLOCK = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

    /**
     * The settings of one transaction. A cached plan that reads whole tables would be a trap as these grow; and without a
     * cached one, planning takes longer than the rest.
     */
    private static final String BEGIN = """
            BEGIN ISOLATION LEVEL READ COMMITTED;
            SELECT set_config('lock_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true),
                   set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)%s;
            """;

    /** Settings as a condition, for a statement that is a transaction by itself. */
    private static final String SETTINGS = "(SELECT concat(set_config('lock_timeout', '%d', true)%s)) IS NOT NULL";

    private static final String IDLE_TIMEOUT = ", set_config('idle_in_transaction_session_timeout', '%d', true)";

    private static final String PLANNING =
            ", set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)";

    private static final String WITHOUT_WAITING_FOR_THE_DISK = ", set_config('synchronous_commit', 'off', true)";

    /** Locks the rows that exist, and reads them. The clock of the last row is later than all locks. */
    private static final String LOCK = """
            SELECT %2$s, key.number, %3$s, state.place
            FROM (
                SELECT key.*
                FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS key (subject, resource, number)
                ORDER BY key.subject COLLATE "C", key.resource COLLATE "C"
                OFFSET 0
            ) key
            CROSS JOIN LATERAL (
                SELECT %3$s, ctid AS place
                FROM "%1$s".rate_limits
                WHERE user_id = key.subject AND resource = key.resource
                FOR NO KEY UPDATE
            ) state
            """;

    /** Not joined to the locked rows: it must see rows that were committed during the wait for the locks. */
    private static final String READ_PENALTIES = """
            SELECT key.number, penalty.*
            FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS key (subject, resource, number)
            CROSS JOIN LATERAL (
                SELECT violation_count, last_violation_at, penalty_until, penalty_duration, forget_at
                FROM "%1$s".rate_limit_penalties
                WHERE user_id = key.subject AND resource = key.resource
                OFFSET 0
            ) penalty
            """;

    /** Locks the rows, and inserts missing ones. An existing row is not changed. */
    private static final String MAKE = """
            INSERT INTO "%1$s".rate_limits AS state (user_id, resource, version)
            SELECT key.subject, key.resource, %2$s
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
            INSERT INTO "%1$s".rate_limits AS state
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
                last_allowed_at = excluded.last_allowed_at, expires_at = excluded.expires_at,
                version = state.version + 1
            """;

    /** Changes locked rows, where they were found. The numbers are those of one row after another. */
    private static final String UPDATE_STATES = """
            UPDATE "%1$s".rate_limits state
            SET algorithm = row.algorithm, log = row.log, window_start = given.numbers[row.before + 1],
                window_size = given.numbers[row.before + 2], capacity = given.numbers[row.before + 3],
                request_count = given.numbers[row.before + 4], previous_count = given.numbers[row.before + 5],
                tokens = given.numbers[row.before + 6], blocked_until = given.numbers[row.before + 7],
                last_request_at = given.numbers[row.before + 8], last_allowed_at = given.numbers[row.before + 9],
                expires_at = given.numbers[row.before + 10], version = state.version + 1
            FROM (SELECT ?::bigint[] AS numbers OFFSET 0) given
            CROSS JOIN (
                SELECT place, algorithm, log, 10 * (number::int - 1) AS before
                FROM unnest(?::text[]::tid[], ?::text[], ?::bytea[])
                    WITH ORDINALITY AS row (place, algorithm, log, number)
                OFFSET 0
            ) row
            WHERE state.ctid = row.place
            """;

    private static final String DELETE_PENALTIES = """
            DELETE FROM "%1$s".rate_limit_penalties row
            USING unnest(?::text[], ?::text[]) AS key (subject, resource)
            WHERE row.user_id = key.subject AND row.resource = key.resource
            """;

    /** The rows that no other transaction holds; the others are skipped. */
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
    private final long lockTimeout;
    private final String idleTimeout;
    private final String durability;

    /** Begins a transaction, locks the rows that exist and reads them, with the clock: one round trip. */
    final String beginAndLock;

    /** The same, and reads the penalties. */
    final String beginAndLockWithPenalties;

    /** The same with rows for all keys. */
    final String beginAndMake;

    /** Reads the rows without locking them, in a transaction that has the settings for it. */
    final String read;

    /** The same as a transaction by itself. */
    final String readAlone;

    final String updateStates;
    final String writeStates;
    final String writePenalties;
    final String deletePenalties;
    final String free;
    final String existing;

    /**
     * @param lockTimeout how long to wait for a row that another transaction holds
     * @param idleTimeout how long a transaction may be left alone by this process before the database ends it
     * @param onGivenClock whether the time is a parameter instead of the clock of the database
     */
    PostgresStatements(
            String schema, boolean durable, Duration lockTimeout, Duration idleTimeout, boolean onGivenClock) {
        this.schema = schema;
        this.clock = onGivenClock ? ":now::bigint" : CLOCK;
        this.lockTimeout = lockTimeout.toMillis();
        this.durability = durable ? "" : WITHOUT_WAITING_FOR_THE_DISK;
        this.idleTimeout = IDLE_TIMEOUT.formatted(idleTimeout.toMillis());
        String given = onGivenClock ? "?::bigint" : CLOCK;
        String begin = BEGIN.formatted(lockTimeout.toMillis(), idleTimeout.toMillis(), durability);
        this.read = READ.formatted(schema, given, StateColumns.READ);
        this.readAlone = "SELECT 1" + PLANNING + ";" + read;
        this.beginAndLock = begin + LOCK.formatted(schema, given, StateColumns.READ);
        this.beginAndLockWithPenalties = beginAndLock + ";" + READ_PENALTIES.formatted(schema);
        this.beginAndMake = begin + MAKE.formatted(schema, CLOCK) + ";" + read;
        this.updateStates = UPDATE_STATES.formatted(schema);
        this.writeStates = WRITE_STATES.formatted(schema);
        this.writePenalties = PenaltyUpsert.sql(schema);
        this.deletePenalties = DELETE_PENALTIES.formatted(schema);
        this.free = FREE.formatted(schema);
        this.existing = EXISTING.formatted(schema);
    }

    /**
     * The statement that admits keys with room.
     *
     * @param leftOpen whether its transaction is left open for a while
     * @param reads whether {@link #read} follows in the same transaction
     * @param followed whether a transaction follows that waits for the disk: it waits for both
     */
    AdmissionStatement admission(AdmissionShape shape, boolean leftOpen, boolean reads, boolean followed) {
        String more = (leftOpen ? idleTimeout : "")
                + (reads ? PLANNING : "")
                + (followed ? WITHOUT_WAITING_FOR_THE_DISK : durability);
        return AdmissionStatement.of(shape, schema, clock, SETTINGS.formatted(lockTimeout, more));
    }
}
