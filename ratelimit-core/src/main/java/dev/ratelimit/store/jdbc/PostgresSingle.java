package dev.ratelimit.store.jdbc;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Micros;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Admission;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Admits a lone request over one limit with a statement that costs little more than an update of one row. It writes the
 * row that the function would have written; or it changes nothing, and the request is left to the function: if there is no
 * room, after a penalty has begun, for a limit with a new rate, for a clock that was set back.
 *
 * <p>The clock is read when the row is locked. Whether there is room is asked as: is it later than the first moment with
 * room? That moment is known from the row alone, and what has room once has room later; so it does no harm that the clock
 * is read again to write the row. The settings are those of the statement's own transaction and end with it.
 */
final class PostgresSingle {

    /** A token is {@code size} units and a microsecond brings {@code rate}; {@code max} and {@code take} are in units. */
    private static final String TOKEN_BUCKET = """
            INSERT INTO "%s".rate_limits AS state
                (user_id, resource, algorithm, window_start, window_size, tokens, last_request_at, last_allowed_at,
                 expires_at)
            SELECT :subject, :resource, 'token-bucket', now.clock, :size, :max - :take, now.clock, now.clock,
                   now.clock + greatest((:take + :rate - 1) / :rate, :interval)
            FROM (
                SELECT coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS clock,
                       set_config('lock_timeout', '1s', true),
                       CASE WHEN NOT :durable THEN set_config('synchronous_commit', 'off', true) END
            ) now
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, tokens, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.clock, now.level - :take, now.clock, now.clock,
                       now.clock + greatest((:max - now.level + :take + :rate - 1) / :rate, :interval)
                FROM (
                    SELECT now.clock,
                           CASE WHEN now.clock - state.last_request_at >= (:max - state.tokens + :rate - 1) / :rate
                               THEN :max ELSE state.tokens + (now.clock - state.last_request_at) * :rate END AS level
                    FROM (
                        SELECT greatest(state.last_request_at,
                            coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)) AS clock
                        OFFSET 0
                    ) now
                    OFFSET 0
                ) now
            )
            WHERE state.algorithm = 'token-bucket' AND state.window_size = :size
                AND coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    CASE WHEN state.tokens < :take
                        THEN state.last_request_at + (:take - state.tokens + :rate - 1) / :rate END)
            RETURNING state.last_request_at, state.window_start, state.request_count, state.previous_count, state.tokens
            """;

    /** The token bucket upside down. The water that a request may find before it is at most {@code ahead}. */
    private static final String LEAKY_BUCKET = """
            INSERT INTO "%s".rate_limits AS state
                (user_id, resource, algorithm, window_start, window_size, tokens, last_request_at, last_allowed_at,
                 expires_at)
            SELECT :subject, :resource, 'leaky-bucket', now.clock, :size, :take, now.clock, now.clock,
                   now.clock + greatest((:take + :rate - 1) / :rate, :interval)
            FROM (
                SELECT coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS clock,
                       set_config('lock_timeout', '1s', true),
                       CASE WHEN NOT :durable THEN set_config('synchronous_commit', 'off', true) END
            ) now
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, tokens, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.clock, now.water + :take, now.clock, now.clock,
                       now.clock + greatest((now.water + :take + :rate - 1) / :rate, :interval)
                FROM (
                    SELECT now.clock,
                           CASE WHEN now.clock - state.last_request_at >= (state.tokens + :rate - 1) / :rate THEN 0
                               ELSE state.tokens - (now.clock - state.last_request_at) * :rate END AS water
                    FROM (
                        SELECT greatest(state.last_request_at,
                            coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)) AS clock
                        OFFSET 0
                    ) now
                    OFFSET 0
                ) now
            )
            WHERE state.algorithm = 'leaky-bucket' AND state.window_size = :size
                AND coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    state.last_request_at
                        + (greatest(state.tokens + :take - :max, state.tokens - :ahead) + :rate - 1) / :rate)
            RETURNING state.last_request_at, state.window_start, state.request_count, state.previous_count, state.tokens
            """;

    private static final String FIXED_WINDOW = """
            INSERT INTO "%s".rate_limits AS state
                (user_id, resource, algorithm, window_start, window_size, request_count, last_request_at,
                 last_allowed_at, expires_at)
            SELECT :subject, :resource, 'fixed-window', now.clock - now.clock %% :size, :size, :take, now.clock, now.clock,
                   greatest(now.clock - now.clock %% :size + :size, now.clock + :interval)
            FROM (
                SELECT coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS clock,
                       set_config('lock_timeout', '1s', true),
                       CASE WHEN NOT :durable THEN set_config('synchronous_commit', 'off', true) END
            ) now
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, window_size, request_count, last_request_at, last_allowed_at, expires_at) = (
                SELECT now.clock - now.clock %% :size, :size,
                       CASE WHEN state.last_request_at >= now.clock - now.clock %% :size
                           THEN state.request_count ELSE 0 END + :take,
                       now.clock, now.clock,
                       greatest(now.clock - now.clock %% :size + :size, now.clock + :interval)
                FROM (
                    SELECT greatest(state.last_request_at,
                        coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)) AS clock
                    OFFSET 0
                ) now
            )
            WHERE state.algorithm = 'fixed-window'
                AND coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    CASE WHEN state.request_count > :max - :take
                        THEN state.last_request_at - state.last_request_at %% :size + :size END)
            RETURNING state.last_request_at, state.window_start, state.request_count, state.previous_count, state.tokens
            """;

    /** The product of two numbers may not fit into 64 bits; most often it need not be known. */
    private static final String SLIDING_WINDOW = """
            INSERT INTO "%s".rate_limits AS state
                (user_id, resource, algorithm, window_start, window_size, request_count, last_request_at,
                 last_allowed_at, expires_at)
            SELECT :subject, :resource, 'sliding-window', now.clock - now.clock %% :size, :size, :take, now.clock,
                   now.clock, greatest(now.clock - now.clock %% :size + 2 * :size, now.clock + :interval)
            FROM (
                SELECT coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS clock,
                       set_config('lock_timeout', '1s', true),
                       CASE WHEN NOT :durable THEN set_config('synchronous_commit', 'off', true) END
            ) now
            ON CONFLICT (user_id, resource) DO UPDATE
            SET (window_start, window_size, request_count, previous_count, last_request_at, last_allowed_at,
                 expires_at) = (
                SELECT now.start, :size,
                       CASE WHEN state.last_request_at >= now.start THEN state.request_count ELSE 0 END + :take,
                       CASE WHEN state.last_request_at >= now.start THEN state.previous_count
                           WHEN state.last_request_at >= now.start - :size THEN state.request_count ELSE 0 END,
                       now.clock, now.clock, greatest(now.start + 2 * :size, now.clock + :interval)
                FROM (
                    SELECT now.clock, now.clock - now.clock %% :size AS start
                    FROM (
                        SELECT greatest(state.last_request_at,
                            coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)) AS clock
                        OFFSET 0
                    ) now
                    OFFSET 0
                ) now
            )
            WHERE state.algorithm = 'sliding-window'
                AND coalesce(:now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) >= greatest(
                    state.last_request_at,
                    state.blocked_until,
                    CASE WHEN :interval > 0 THEN state.last_allowed_at + :interval END,
                    CASE
                        WHEN state.request_count + state.previous_count <= :max - :take THEN 0
                        WHEN state.request_count <= :max - :take THEN
                            state.last_request_at - state.last_request_at %% :size + :size
                            - div((:max - :take - state.request_count)::numeric * :size,
                                greatest(1, state.previous_count))::bigint
                        ELSE
                            state.last_request_at - state.last_request_at %% :size + 2 * :size
                            - div((:max - :take)::numeric * :size, greatest(1, state.request_count))::bigint
                    END)
            RETURNING state.last_request_at, state.window_start, state.request_count, state.previous_count, state.tokens
            """;

    private static final Pattern ARGUMENT = Pattern.compile("(?<!:):([a-z]+)");

    private static final int REMEMBERED = 1 << 12;

    /**
     * The hashes of keys that had no room when they were last asked, each in the place that its hash gives. A request on
     * such a key is not tried: most likely it would need both statements. A key that is wrongly in or not in here costs
     * time, nothing else.
     */
    private final AtomicIntegerArray withoutRoom = new AtomicIntegerArray(REMEMBERED);

    private final Statement tokenBucket;
    private final Statement leakyBucket;
    private final Statement fixedWindow;
    private final Statement slidingWindow;

    PostgresSingle(String schema) {
        this.tokenBucket = Statement.of(TOKEN_BUCKET, schema);
        this.leakyBucket = Statement.of(LEAKY_BUCKET, schema);
        this.fixedWindow = Statement.of(FIXED_WINDOW, schema);
        this.slidingWindow = Statement.of(SLIDING_WINDOW, schema);
    }

    /** A statement with its arguments, by name in the order in which they occur. */
    private record Statement(String sql, List<String> arguments) {

        static Statement of(String sql, String schema) {
            List<String> arguments = new ArrayList<>();
            Matcher argument = ARGUMENT.matcher(sql.formatted(schema));
            String positional = argument.replaceAll(found -> {
                arguments.add(found.group(1));
                return "?";
            });
            return new Statement(positional, List.copyOf(arguments));
        }
    }

    /** Whether the group is a lone request of the kind that may be tried. */
    boolean covers(List<Operation> group) {
        if (group.size() != 1) {
            return false;
        }
        Operation operation = group.get(0);
        if (operation.kind() != Operation.Kind.DECIDE || operation.demands().size() != 1) {
            return false;
        }
        Demand demand = operation.demands().get(0);
        int hash = demand.key().hashCode();
        return statement(demand.limit().algorithm()) != null && withoutRoom.get(place(hash)) != hash;
    }

    private static int place(int hash) {
        return (hash ^ hash >>> 16) & (REMEMBERED - 1);
    }

    /** Remembers whether a lone request had room. */
    void learn(List<Operation> group, List<Answer> answers) {
        if (group.size() == 1 && group.get(0).demands().size() == 1) {
            int hash = group.get(0).demands().get(0).key().hashCode();
            withoutRoom.set(place(hash), answers.get(0).allowed() ? ~hash : hash);
        }
    }

    private @Nullable Statement statement(Algorithm algorithm) {
        if (algorithm instanceof Algorithm.TokenBucket) {
            return tokenBucket;
        }
        if (algorithm instanceof Algorithm.FixedWindow fixed) {
            return fixed.window() instanceof Window.Span ? fixedWindow : null;
        }
        if (algorithm instanceof Algorithm.SlidingWindow) {
            return slidingWindow;
        }
        return algorithm instanceof Algorithm.LeakyBucket ? leakyBucket : null;
    }

    /** Admits the request; {@code null} if it was not, and nothing was changed. */
    @Nullable
    Answer admit(Connection connection, Demand demand, boolean durable, @Nullable Long now) throws SQLException {
        Limit limit = demand.limit();
        Statement chosen = statement(limit.algorithm());
        if (chosen == null) {
            return null;
        }
        try (PreparedStatement statement = connection.prepareStatement(chosen.sql())) {
            bind(statement, chosen.arguments(), demand, durable, now);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                long at = row.getLong(1);
                State after = new State(
                        limit.algorithm().written(),
                        row.getLong(2),
                        PostgresNumbers.size(limit.algorithm()),
                        row.getLong(3),
                        row.getLong(4),
                        row.getLong(5),
                        Log.EMPTY,
                        0,
                        at,
                        at,
                        0);
                return new Answer(at, List.of(new Admission(limit, after, demand.cost()).next(demand.cost())));
            }
        }
    }

    private static void bind(
            PreparedStatement statement, List<String> arguments, Demand demand, boolean durable, @Nullable Long now)
            throws SQLException {
        Algorithm algorithm = demand.limit().algorithm();
        long unit = PostgresNumbers.unitsOfOne(algorithm);
        for (int i = 0; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
                case "durable" -> statement.setBoolean(i + 1, durable);
                case "subject" -> statement.setString(i + 1, demand.subject().text());
                case "resource" -> statement.setString(i + 1, demand.limit().name());
                case "take" -> statement.setLong(i + 1, demand.cost() * unit);
                case "max" -> statement.setLong(i + 1, algorithm.capacity() * unit);
                case "size" -> statement.setLong(i + 1, PostgresNumbers.size(algorithm));
                case "rate" -> statement.setLong(i + 1, PostgresNumbers.rate(algorithm));
                case "ahead" -> statement.setLong(i + 1, ((Algorithm.LeakyBucket) algorithm).mostAhead());
                case "interval" ->
                    statement.setLong(i + 1, Micros.of(demand.limit().minInterval()));
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
