package dev.ratelimit.store.jdbc;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Micros;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Admission;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.store.StateKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Admits what has room, of a group on one limit, with one plain statement: for a lone request it costs little more than an
 * update of one row, and for many it is the cheapest way to write as many rows. It charges each key with all that the group
 * takes of it and writes the rows that the function would have written. A key that has no room for all of it is left as it
 * is, and its requests to the function: also after a penalty has begun, for a limit with a new rate, for a clock that was set
 * back.
 *
 * <p>Rows are taken in the order of their keys. The clock is read when the row is locked. Whether there is room is asked as:
 * is it later than the first moment with room? That moment is known from the row alone, and what has room once has room
 * later; so it does no harm that the clock is read again to write the row. The settings are those of the statement's own
 * transaction and end with it.
 */
final class PostgresUpsert {

    /** The clock, in microseconds. */
    private static final String CLOCK = "coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)";

    /** Nobody waits longer for a row than this, even if its client has given up and gone. */
    private static final String SETTINGS = """
            (SELECT concat(set_config('lock_timeout', '1s', true),
                CASE WHEN NOT :durable THEN set_config('synchronous_commit', 'off', true) END)) IS NOT NULL""";

    /** The one key, and what is taken of it. */
    private static final String ONE_KEY = """
            SELECT :subject::text AS subject, :take::bigint AS take, {clock} AS clock WHERE {settings}""";

    /** Each key, and what is taken of it, in the order in which all groups take them. */
    private static final String MANY_KEYS = """
            SELECT key.subject, key.take, {clock} AS clock
                FROM unnest(:subjects, :takes) AS key (subject, take) WHERE {settings}
                ORDER BY key.subject COLLATE "C" OFFSET 0""";

    /** A token is {@code size} units and a microsecond brings {@code rate}; {@code max} and {@code take} are in units. */
    private static final String TOKEN_BUCKET = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, tokens, last_request_at, last_allowed_at,
                 expires_at)
            SELECT key.subject, :resource, 'token-bucket', key.clock, :size, :max - key.take, key.clock, key.clock,
                   key.clock + greatest((key.take + :rate - 1) / :rate, :interval)
            FROM ({keys}) key
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, tokens, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.clock, now.level - :max + excluded.tokens, now.clock, now.clock,
                       now.clock + greatest((:max - now.level + :max - excluded.tokens + :rate - 1) / :rate, :interval)
                FROM (
                    SELECT now.clock,
                           CASE WHEN now.clock - state.last_request_at >= (:max - state.tokens + :rate - 1) / :rate
                               THEN :max ELSE state.tokens + (now.clock - state.last_request_at) * :rate END AS level
                    FROM (SELECT greatest(state.last_request_at, {clock}) AS clock OFFSET 0) now
                    OFFSET 0
                ) now
            )
            WHERE state.algorithm = 'token-bucket' AND state.window_size = :size
                AND {clock} >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    CASE WHEN state.tokens < :max - excluded.tokens
                        THEN state.last_request_at + (:max - excluded.tokens - state.tokens + :rate - 1) / :rate END)
            RETURNING state.user_id, state.last_request_at, state.tokens
            """;

    /** The token bucket upside down. The water that a request may find before it is at most {@code ahead}. */
    private static final String LEAKY_BUCKET = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, tokens, last_request_at, last_allowed_at,
                 expires_at)
            SELECT key.subject, :resource, 'leaky-bucket', key.clock, :size, key.take, key.clock, key.clock,
                   key.clock + greatest((key.take + :rate - 1) / :rate, :interval)
            FROM ({keys}) key
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, tokens, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.clock, now.water + excluded.tokens, now.clock, now.clock,
                       now.clock + greatest((now.water + excluded.tokens + :rate - 1) / :rate, :interval)
                FROM (
                    SELECT now.clock,
                           CASE WHEN now.clock - state.last_request_at >= (state.tokens + :rate - 1) / :rate THEN 0
                               ELSE state.tokens - (now.clock - state.last_request_at) * :rate END AS water
                    FROM (SELECT greatest(state.last_request_at, {clock}) AS clock OFFSET 0) now
                    OFFSET 0
                ) now
            )
            WHERE state.algorithm = 'leaky-bucket' AND state.window_size = :size
                AND {clock} >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    state.last_request_at
                        + (greatest(state.tokens + excluded.tokens - :max, state.tokens - :ahead) + :rate - 1) / :rate)
            RETURNING state.user_id, state.last_request_at, state.tokens
            """;

    private static final String FIXED_WINDOW = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, request_count, last_request_at,
                 last_allowed_at, expires_at)
            SELECT key.subject, :resource, 'fixed-window', key.clock - key.clock % :size, :size, key.take, key.clock,
                   key.clock, greatest(key.clock - key.clock % :size + :size, key.clock + :interval)
            FROM ({keys}) key
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, window_size, request_count, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.clock - now.clock % :size, :size,
                       CASE WHEN state.last_request_at >= now.clock - now.clock % :size
                           THEN state.request_count ELSE 0 END + excluded.request_count,
                       now.clock, now.clock,
                       greatest(now.clock - now.clock % :size + :size, now.clock + :interval)
                FROM (SELECT greatest(state.last_request_at, {clock}) AS clock OFFSET 0) now
            )
            WHERE state.algorithm = 'fixed-window'
                AND {clock} >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    CASE WHEN state.request_count > :max - excluded.request_count
                        THEN state.last_request_at - state.last_request_at % :size + :size END)
            RETURNING state.user_id, state.last_request_at, state.request_count
            """;

    /** The product of two numbers may not fit into 64 bits; most often it need not be known. */
    private static final String SLIDING_WINDOW = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, request_count, last_request_at,
                 last_allowed_at, expires_at)
            SELECT key.subject, :resource, 'sliding-window', key.clock - key.clock % :size, :size, key.take, key.clock,
                   key.clock, greatest(key.clock - key.clock % :size + 2 * :size, key.clock + :interval)
            FROM ({keys}) key
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, window_size, request_count, previous_count, last_request_at, last_allowed_at,
                 expires_at) = (
                SELECT now.start, :size,
                       CASE WHEN state.last_request_at >= now.start THEN state.request_count ELSE 0 END
                           + excluded.request_count,
                       CASE WHEN state.last_request_at >= now.start THEN state.previous_count
                           WHEN state.last_request_at >= now.start - :size THEN state.request_count ELSE 0 END,
                       now.clock, now.clock, greatest(now.start + 2 * :size, now.clock + :interval)
                FROM (
                    SELECT now.clock, now.clock - now.clock % :size AS start
                    FROM (SELECT greatest(state.last_request_at, {clock}) AS clock OFFSET 0) now
                    OFFSET 0
                ) now
            )
            WHERE state.algorithm = 'sliding-window'
                AND {clock} >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    CASE
                        WHEN state.request_count + state.previous_count <= :max - excluded.request_count THEN 0
                        WHEN state.request_count <= :max - excluded.request_count THEN
                            state.last_request_at - state.last_request_at % :size + :size
                            - div((:max - excluded.request_count - state.request_count)::numeric * :size,
                                greatest(1, state.previous_count))::bigint
                        ELSE
                            state.last_request_at - state.last_request_at % :size + 2 * :size
                            - div((:max - excluded.request_count)::numeric * :size,
                                greatest(1, state.request_count))::bigint
                    END)
            RETURNING state.user_id, state.last_request_at, state.request_count, state.previous_count
            """;

    /** Eight bytes for each request of the window. The oldest that must have left it makes room. */
    private static final String SLIDING_LOG = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, log, last_request_at, last_allowed_at, expires_at)
            SELECT key.subject, :resource, 'sliding-log', key.clock, :size,
                   decode(repeat(encode(int8send(key.clock), 'hex'), key.take::int), 'hex'), key.clock, key.clock,
                   key.clock + greatest(:size, :interval)
            FROM ({keys}) key
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, window_size, log, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.clock, :size,
                       coalesce({schema}.rate_limit_log_after_v2(state.log, now.clock - :size), '')
                           || decode(repeat(encode(int8send(now.clock), 'hex'), length(excluded.log) / 8), 'hex'),
                       now.clock, now.clock, now.clock + greatest(:size, :interval)
                FROM (SELECT greatest(state.last_request_at, {clock}) AS clock OFFSET 0) now
            )
            WHERE state.algorithm = 'sliding-log'
                AND {clock} >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    CASE WHEN length(state.log) + length(excluded.log) > :max * 8 THEN
                        ('x' || encode(substring(state.log
                            FROM (length(state.log) + length(excluded.log) - :max * 8 - 7)::int FOR 8), 'hex')
                        )::bit(64)::bigint + :size END)
            RETURNING state.user_id, state.last_request_at, length(state.log) / 8
            """;

    private static final Pattern ARGUMENT = Pattern.compile("(?<!:):([a-z]+)");

    private static final int REMEMBERED = 1 << 12;

    /**
     * The hashes of keys that had no room when they were last asked, each in the place that its hash gives. A group with
     * such a key is not tried: most likely it would need both statements. A key that is wrongly in or not in here costs
     * time, nothing else.
     */
    private final AtomicIntegerArray withoutRoom = new AtomicIntegerArray(REMEMBERED);

    private final Statements tokenBucket;
    private final Statements leakyBucket;
    private final Statements fixedWindow;
    private final Statements slidingWindow;
    private final Statements slidingLog;

    PostgresUpsert(String schema) {
        this.tokenBucket = Statements.of(TOKEN_BUCKET, schema);
        this.leakyBucket = Statements.of(LEAKY_BUCKET, schema);
        this.fixedWindow = Statements.of(FIXED_WINDOW, schema);
        this.slidingWindow = Statements.of(SLIDING_WINDOW, schema);
        this.slidingLog = Statements.of(SLIDING_LOG, schema);
    }

    /** The statement of an algorithm, for one key and for many. */
    private record Statements(Statement one, Statement many) {

        static Statements of(String template, String schema) {
            return new Statements(Statement.of(template, ONE_KEY, schema), Statement.of(template, MANY_KEYS, schema));
        }
    }

    /** A statement with its arguments, by name in the order in which they occur. */
    private record Statement(String sql, List<String> arguments) {

        static Statement of(String template, String keys, String schema) {
            String named = template.replace("{keys}", keys)
                    .replace("{settings}", SETTINGS)
                    .replace("{clock}", CLOCK)
                    .replace("{table}", "{schema}.rate_limits")
                    .replace("{schema}", "\"" + schema + "\"");
            List<String> arguments = new ArrayList<>();
            String positional = ARGUMENT.matcher(named).replaceAll(found -> {
                arguments.add(found.group(1));
                return "?";
            });
            return new Statement(positional, List.copyOf(arguments));
        }
    }

    /** Whether the group is one that may be tried: see {@link PostgresCall#admissible()}. */
    boolean covers(PostgresCall call) {
        if (!call.admissible()
                || call.linked()
                || call.limits().size() > 1
                || statements(call.limits().get(0)) == null) {
            return false;
        }
        for (StateKey key : call.keys()) {
            int hash = key.hashCode();
            if (withoutRoom.get(place(hash)) == hash) {
                return false;
            }
        }
        return true;
    }

    private static int place(int hash) {
        return (hash ^ hash >>> 16) & (REMEMBERED - 1);
    }

    /** Remembers that the key had room, or that it had none. */
    void learn(StateKey key, boolean room) {
        int hash = key.hashCode();
        if (!room) {
            withoutRoom.set(place(hash), hash);
        } else {
            withoutRoom.compareAndSet(place(hash), hash, ~hash);
        }
    }

    private @Nullable Statements statements(Limit limit) {
        Algorithm algorithm = limit.algorithm();
        if (algorithm instanceof Algorithm.TokenBucket) {
            return tokenBucket;
        }
        if (algorithm instanceof Algorithm.FixedWindow fixed) {
            return fixed.window() instanceof Window.Span ? fixedWindow : null;
        }
        if (algorithm instanceof Algorithm.SlidingWindow) {
            return slidingWindow;
        }
        return algorithm instanceof Algorithm.LeakyBucket ? leakyBucket : slidingLog;
    }

    /**
     * Charges a group that is covered.
     *
     * @return what was charged, by the number of the key; nothing where a key had no room for all that is taken of it
     */
    @Nullable
    Admission[] admit(Connection connection, PostgresCall call, boolean durable, @Nullable Long now)
            throws SQLException {
        Limit limit = call.limits().get(0);
        Statements statements = Objects.requireNonNull(statements(limit));
        Statement chosen = call.keys().size() == 1 ? statements.one() : statements.many();
        @Nullable Admission[] admitted = new @Nullable Admission[call.keys().size()];
        try (PreparedStatement statement = connection.prepareStatement(chosen.sql())) {
            bind(statement, chosen.arguments(), call, limit, durable, now);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    int key = call.number(new StateKey(row.getString(1), limit.name()));
                    admitted[key] = new Admission(limit, state(row, limit.algorithm()), call.total(key));
                }
            }
        }
        return admitted;
    }

    /** The state after all was charged, as far as what was told follows from it. */
    private static State state(ResultSet row, Algorithm algorithm) throws SQLException {
        long at = row.getLong(2);
        long size = PostgresNumbers.size(algorithm);
        boolean bucket = algorithm instanceof Algorithm.TokenBucket || algorithm instanceof Algorithm.LeakyBucket;
        boolean log = algorithm instanceof Algorithm.SlidingLog;
        return new State(
                algorithm.written(),
                bucket || log ? at : at - at % size,
                size,
                bucket || log ? 0 : row.getLong(3),
                algorithm instanceof Algorithm.SlidingWindow ? row.getLong(4) : 0,
                bucket ? row.getLong(3) : 0,
                log ? Log.of(at, row.getInt(3)) : Log.EMPTY,
                0,
                at,
                at,
                0);
    }

    private static void bind(
            PreparedStatement statement,
            List<String> arguments,
            PostgresCall call,
            Limit limit,
            boolean durable,
            @Nullable Long now)
            throws SQLException {
        Algorithm algorithm = limit.algorithm();
        for (int i = 0; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
                case "durable" -> statement.setBoolean(i + 1, durable);
                case "subject" -> statement.setString(i + 1, call.keys().get(0).subject());
                case "subjects" -> statement.setObject(i + 1, call.subjects());
                case "resource" -> statement.setString(i + 1, limit.name());
                case "take" -> statement.setLong(i + 1, call.taken()[0]);
                case "takes" -> statement.setObject(i + 1, call.taken());
                case "max" -> statement.setLong(i + 1, algorithm.capacity() * PostgresNumbers.unitsOfOne(algorithm));
                case "size" -> statement.setLong(i + 1, PostgresNumbers.size(algorithm));
                case "rate" -> statement.setLong(i + 1, PostgresNumbers.rate(algorithm));
                case "ahead" -> statement.setLong(i + 1, ((Algorithm.LeakyBucket) algorithm).mostAhead());
                case "interval" -> statement.setLong(i + 1, Micros.of(limit.minInterval()));
                case "now" -> {
                    if (now == null) {
                        statement.setNull(i + 1, Types.BIGINT);
                    } else {
                        statement.setLong(i + 1, now);
                    }
                }
                default -> throw new IllegalStateException("no value for " + arguments.get(i));
            }
        }
    }
}
