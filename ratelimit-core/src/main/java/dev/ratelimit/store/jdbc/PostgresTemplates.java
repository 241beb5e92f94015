package dev.ratelimit.store.jdbc;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Window;
import org.jspecify.annotations.Nullable;

/** The text of the statements that {@link PostgresUpsert} makes: one for each algorithm, with gaps that it fills. */
final class PostgresTemplates {

    private PostgresTemplates() {}

    /** The clock, in microseconds: from a double, which is exact once it is rounded, and cheaper than a numeric. */
    static final String CLOCK = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

    /** The clock of a test. */
    static final String GIVEN_CLOCK = ":now::bigint";

    /** Nobody waits longer for a row than this, even if its client has given up and gone. */
    static final String SETTINGS = "(SELECT set_config('lock_timeout', '1s', true)) IS NOT NULL";

    /** The same without waiting for the disk. */
    static final String SETTINGS_WITHOUT_WAITING = """
            (SELECT concat(set_config('lock_timeout', '1s', true),
                set_config('synchronous_commit', 'off', true))) IS NOT NULL""";

    /** The one key, and what is taken of it. */
    static final String ONE_KEY = """
            SELECT :subject::text AS subject, :resource::text AS resource, :take::bigint AS take, {clock} AS clock
                WHERE {settings}""";

    /** Each key, and what is taken of it, in the order in which all groups take them. */
    static final String MANY_KEYS = """
            SELECT key.subject, key.resource, key.take, {clock} AS clock
                FROM unnest(:subjects, :resources, :takes) AS key (subject, resource, take) WHERE {settings}
                ORDER BY key.subject COLLATE "C", key.resource COLLATE "C" OFFSET 0""";

    /** The same where all are on one limit. */
    static final String MANY_SUBJECTS = """
            SELECT key.subject, :resource::text AS resource, key.take, {clock} AS clock
                FROM unnest(:subjects, :takes) AS key (subject, take) WHERE {settings}
                ORDER BY key.subject COLLATE "C" OFFSET 0""";

    /** A token is {@code size} units and a microsecond brings {@code rate}; {@code max} and {@code take} are in units. */
    static final String TOKEN_BUCKET = """
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
    static final String LEAKY_BUCKET = """
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

    static final String FIXED_WINDOW = """
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
    static final String SLIDING_WINDOW = """
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
    static final String SLIDING_LOG = """
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

    /** The template of the limit's algorithm; none for windows of the calendar, whose length is not known beforehand. */
    static @Nullable String of(Limit limit) {
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
}
