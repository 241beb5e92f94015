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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Admits what has room, of a group on limits of one algorithm, with one plain statement: for a lone request it costs little
 * more than an update of one row, and for many it is the cheapest way to write as many rows. It charges each key with all
 * that the group takes of it and writes the rows that the function would have written. A key that has no room for all of it
 * is left as it is, and its requests to the function: also after a penalty has begun, for a limit with a new rate, for a
 * clock that was set back.
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
            SELECT :subject::text AS subject, :resource::text AS resource, :take::bigint AS take, {clock} AS clock
                WHERE {settings}""";

    /** Each key, and what is taken of it, in the order in which all groups take them. */
    private static final String MANY_KEYS = """
            SELECT key.subject, key.resource, key.take, {clock} AS clock
                FROM unnest(:subjects, :resources, :takes) AS key (subject, resource, take) WHERE {settings}
                ORDER BY key.subject COLLATE "C", key.resource COLLATE "C" OFFSET 0""";

    /** The same where all are on one limit. */
    private static final String MANY_SUBJECTS = """
            SELECT key.subject, :resource::text AS resource, key.take, {clock} AS clock
                FROM unnest(:subjects, :takes) AS key (subject, take) WHERE {settings}
                ORDER BY key.subject COLLATE "C" OFFSET 0""";

    /** A token is {@code size} units and a microsecond brings {@code rate}; {@code max} and {@code take} are in units. */
    private static final String TOKEN_BUCKET = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, tokens, last_request_at, last_allowed_at,
                 expires_at)
            SELECT key.subject, key.resource, 'token-bucket', key.clock, :size, :max - key.take, key.clock, key.clock,
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
            RETURNING state.user_id, state.last_request_at, state.tokens{resource}
            """;

    /** The token bucket upside down. The water that a request may find before it is at most {@code ahead}. */
    private static final String LEAKY_BUCKET = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, tokens, last_request_at, last_allowed_at,
                 expires_at)
            SELECT key.subject, key.resource, 'leaky-bucket', key.clock, :size, key.take, key.clock, key.clock,
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
            RETURNING state.user_id, state.last_request_at, state.tokens{resource}
            """;

    private static final String FIXED_WINDOW = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, request_count, last_request_at,
                 last_allowed_at, expires_at)
            SELECT key.subject, key.resource, 'fixed-window', key.clock - key.clock % :size, :size, key.take, key.clock,
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
            RETURNING state.user_id, state.last_request_at, state.request_count{resource}
            """;

    /** The product of two numbers may not fit into 64 bits; most often it need not be known. */
    private static final String SLIDING_WINDOW = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, request_count, last_request_at,
                 last_allowed_at, expires_at)
            SELECT key.subject, key.resource, 'sliding-window', key.clock - key.clock % :size, :size, key.take, key.clock,
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
            RETURNING state.user_id, state.last_request_at, state.request_count, state.previous_count{resource}
            """;

    /** Eight bytes for each request of the window. The oldest that must have left it makes room. */
    private static final String SLIDING_LOG = """
            INSERT INTO {table} AS state
                (user_id, resource, algorithm, window_start, window_size, log, last_request_at, last_allowed_at, expires_at)
            SELECT key.subject, key.resource, 'sliding-log', key.clock, :size,
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
            RETURNING state.user_id, state.last_request_at, length(state.log) / 8{resource}
            """;

    /** The numbers of a limit. */
    private static final List<String> NUMBERS = List.of("max", "size", "rate", "ahead", "interval");

    private static final Pattern NUMBER = Pattern.compile("(?<!:):(" + String.join("|", NUMBERS) + ")\\b");
    private static final Pattern ARGUMENT = Pattern.compile("(?<!:):([a-z]+)([0-9]*)");

    /** With more limits than these in a group, telling them apart costs more than the function does. */
    private static final int MOST_LIMITS = 4;

    private static final int REMEMBERED = 1 << 12;

    private final String schema;
    private final Map<Shape, Statement> statements = new ConcurrentHashMap<>();

    /**
     * The hashes of keys that had no room when they were last asked, each in the place that its hash gives. A group with
     * such a key is not tried: most likely it would need both statements. A key that is wrongly in or not in here costs
     * time, nothing else.
     */
    private final AtomicIntegerArray withoutRoom = new AtomicIntegerArray(REMEMBERED);

    PostgresUpsert(String schema) {
        this.schema = schema;
    }

    /**
     * What a statement depends on.
     *
     * @param template that of the algorithm
     * @param differing the numbers in which the limits differ
     */
    private record Shape(String template, boolean oneKey, int limits, Set<String> differing) {

        Shape {
            differing = Set.copyOf(differing);
        }
    }

    /** A statement with its arguments, in the order in which they occur. */
    private record Statement(String sql, List<Argument> arguments) {}

    /**
     * @param limit whose it is
     */
    private record Argument(String name, int limit) {}

    private Statement statement(Shape shape) {
        String keys = shape.oneKey() ? ONE_KEY : shape.limits() == 1 ? MANY_SUBJECTS : MANY_KEYS;
        int conflict = shape.template().indexOf("ON CONFLICT");
        String named = (numbers(shape, shape.template().substring(0, conflict), "key.resource")
                        + numbers(shape, shape.template().substring(conflict), "state.resource"))
                .replace("{keys}", keys)
                .replace("{settings}", SETTINGS)
                .replace("{clock}", CLOCK)
                .replace("{resource}", shape.limits() == 1 ? "" : ", state.resource")
                .replace("{table}", "{schema}.rate_limits")
                .replace("{schema}", "\"" + schema + "\"");
        List<Argument> arguments = new ArrayList<>();
        String positional = ARGUMENT.matcher(named).replaceAll(found -> {
            arguments.add(
                    new Argument(found.group(1), found.group(2).isEmpty() ? 0 : Integer.parseInt(found.group(2)) - 1));
            return "?";
        });
        return new Statement(positional, List.copyOf(arguments));
    }

    /** Where the limits differ in a number, it is that of the limit that the resource names. */
    private static String numbers(Shape shape, String template, String resource) {
        return NUMBER.matcher(template).replaceAll(found -> {
            String name = found.group(1);
            if (!shape.differing().contains(name)) {
                return ":" + name;
            }
            StringBuilder choice = new StringBuilder("CASE ").append(resource);
            for (int limit = 1; limit <= shape.limits(); limit++) {
                choice.append(" WHEN :resource")
                        .append(limit)
                        .append(" THEN :")
                        .append(name)
                        .append(limit);
            }
            return choice.append(" END").toString();
        });
    }

    /** Whether the group is one that may be tried: see {@link PostgresCall#admissible()}. */
    boolean covers(PostgresCall call) {
        String template = call.limits().size() > MOST_LIMITS
                ? null
                : template(call.limits().get(0));
        if (template == null || !call.admissible()) {
            return false;
        }
        for (Limit limit : call.limits()) {
            if (!template.equals(template(limit))) {
                return false;
            }
        }
        for (StateKey key : call.keys()) {
            int hash = key.hashCode();
            if (withoutRoom.get(place(hash)) == hash) {
                return false;
            }
        }
        return true;
    }

    /** The template of the limit's algorithm; none for windows of the calendar, whose length is not known beforehand. */
    private static @Nullable String template(Limit limit) {
        Algorithm algorithm = limit.algorithm();
        if (algorithm instanceof Algorithm.TokenBucket) {
            return TOKEN_BUCKET;
        }
        if (algorithm instanceof Algorithm.FixedWindow fixed) {
            return fixed.window() instanceof Window.Span ? FIXED_WINDOW : null;
        }
        if (algorithm instanceof Algorithm.SlidingWindow) {
            return SLIDING_WINDOW;
        }
        return algorithm instanceof Algorithm.LeakyBucket ? LEAKY_BUCKET : SLIDING_LOG;
    }

    private static Shape shape(PostgresCall call) {
        List<Limit> limits = call.limits();
        Set<String> differing = new HashSet<>();
        if (limits.size() > 1) {
            for (String name : NUMBERS) {
                for (Limit limit : limits) {
                    if (number(name, limit) != number(name, limits.get(0))) {
                        differing.add(name);
                    }
                }
            }
        }
        return new Shape(
                Objects.requireNonNull(template(limits.get(0))), call.keys().size() == 1, limits.size(), differing);
    }

    private static long number(String name, Limit limit) {
        Algorithm algorithm = limit.algorithm();
        return switch (name) {
            case "max" -> algorithm.capacity() * PostgresNumbers.unitsOfOne(algorithm);
            case "size" -> PostgresNumbers.size(algorithm);
            case "rate" -> PostgresNumbers.rate(algorithm);
            case "ahead" -> algorithm instanceof Algorithm.LeakyBucket bucket ? bucket.mostAhead() : 0;
            case "interval" -> Micros.of(limit.minInterval());
            default -> throw new IllegalStateException("no value for " + name);
        };
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

    /**
     * Charges a group that is covered.
     *
     * @return what was charged, by the number of the key; nothing where a key had no room for all that is taken of it
     */
    @Nullable
    Admission[] admit(Connection connection, PostgresCall call, boolean durable, @Nullable Long now)
            throws SQLException {
        Statement chosen = statements.computeIfAbsent(shape(call), this::statement);
        boolean oneLimit = call.limits().size() == 1;
        Limit first = call.limits().get(0);
        int resource = first.algorithm() instanceof Algorithm.SlidingWindow ? 5 : 4;
        @Nullable Admission[] admitted = new @Nullable Admission[call.keys().size()];
        try (PreparedStatement statement = connection.prepareStatement(chosen.sql())) {
            bind(statement, chosen.arguments(), call, durable, now);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String name = oneLimit ? first.name() : row.getString(resource);
                    int key = call.number(new StateKey(row.getString(1), name));
                    Limit limit = call.limit(key);
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
            List<Argument> arguments,
            PostgresCall call,
            boolean durable,
            @Nullable Long now)
            throws SQLException {
        for (int i = 0; i < arguments.size(); i++) {
            Argument argument = arguments.get(i);
            Limit limit = call.limits().get(argument.limit());
            switch (argument.name()) {
                case "durable" -> statement.setBoolean(i + 1, durable);
                case "subject" -> statement.setString(i + 1, call.keys().get(0).subject());
                case "subjects" -> statement.setObject(i + 1, call.subjects());
                case "resource" -> statement.setString(i + 1, limit.name());
                case "resources" -> statement.setObject(i + 1, call.resources());
                case "take" -> statement.setLong(i + 1, call.taken()[0]);
                case "takes" -> statement.setObject(i + 1, call.taken());
                case "now" -> {
                    if (now == null) {
                        statement.setNull(i + 1, Types.BIGINT);
                    } else {
                        statement.setLong(i + 1, now);
                    }
                }
                default -> statement.setLong(i + 1, number(argument.name(), limit));
            }
        }
    }
}
