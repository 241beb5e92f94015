package dev.ratelimit.audit;

import dev.ratelimit.audit.report.Reports.Granularity;
import dev.ratelimit.audit.report.Reports.Totals;
import dev.ratelimit.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;

/**
 * Sums minutes to hours, and hours to days, over all instances. Each run computes the latest periods anew and sets their rows: so
 * it does not matter how often it runs, nor whether a minute was written late. A period without parts stays as it is: retention may
 * have dropped them.
 *
 * <ol>
 *   <li>The database sums the counts of a period. Only the subjects that were denied most, and the busiest ones, get rows of their
 *       own, as in a minute. Otherwise an attack with changing names would give an hour a row for each of them.
 *   <li>The same statement counts the present rows with zeros. A subject that has lost its row is in the shared row now.
 *   <li>Histograms are merged in memory. Only whole requests have one, so there is one for each endpoint and region.
 *   <li>Rows without a request are deleted.
 * </ol>
 */
final class TotalsSums {

    /** Other instances sum up their minutes themselves if they write them later than that. */
    private static final Duration LATE_MINUTES = Duration.ofHours(2);

    /** If nothing ran for longer, the sums before are lost. */
    private static final Duration LONGEST_GAP = Duration.ofDays(31);

    private static final String SUM = """
            WITH parts AS (
                SELECT resource, user_id, endpoint, region, sum(total) AS total, sum(allowed) AS allowed,
                    sum(throttled) AS throttled, sum(blocked) AS blocked, sum(exempt) AS exempt, sum(failed) AS failed,
                    sum(cache_hits) AS cache_hits, sum(cache_misses) AS cache_misses, max(last_request_at) AS last_request_at
                FROM %1$s
                WHERE granularity = :parts AND period_start >= %2$s AND period_start < %3$s
                GROUP BY resource, user_id, endpoint, region
            ), ranked AS (
                SELECT parts.*, row_number() OVER (PARTITION BY user_id = '', throttled + blocked > 0
                    ORDER BY throttled + blocked DESC, total DESC, resource, user_id, endpoint, region) AS place
                FROM parts
            ), summed AS (
                SELECT resource,
                    CASE WHEN place <= CASE WHEN throttled + blocked > 0 THEN :denied ELSE :busiest END THEN user_id ELSE '' END
                        AS user_id,
                    endpoint, region, total, allowed, throttled, blocked, exempt, failed, cache_hits, cache_misses,
                    last_request_at
                FROM ranked
                UNION ALL
                SELECT resource, user_id, endpoint, region, 0, 0, 0, 0, 0, 0, 0, 0, last_request_at
                FROM %1$s
                WHERE granularity = :whole AND period_start = %2$s AND instance = ''
            )
            INSERT INTO %1$s AS present (period_start, granularity, resource, user_id, endpoint, region, instance, total,
                allowed, throttled, blocked, exempt, failed, cache_hits, cache_misses, last_request_at)
            SELECT %2$s, CAST(:whole AS text), resource, user_id, endpoint, region, '', CAST(sum(total) AS bigint),
                CAST(sum(allowed) AS bigint), CAST(sum(throttled) AS bigint), CAST(sum(blocked) AS bigint),
                CAST(sum(exempt) AS bigint), CAST(sum(failed) AS bigint), CAST(sum(cache_hits) AS bigint),
                CAST(sum(cache_misses) AS bigint), max(last_request_at)
            FROM summed
            WHERE true
            GROUP BY resource, user_id, endpoint, region
            ON CONFLICT (period_start, granularity, resource, user_id, endpoint, region, instance) DO UPDATE SET
                total = excluded.total, allowed = excluded.allowed, throttled = excluded.throttled,
                blocked = excluded.blocked, exempt = excluded.exempt, failed = excluded.failed,
                cache_hits = excluded.cache_hits, cache_misses = excluded.cache_misses,
                last_request_at = excluded.last_request_at
            WHERE (present.total, present.allowed, present.throttled, present.blocked, present.exempt, present.failed,
                    present.cache_hits, present.cache_misses, present.last_request_at)
                <> (excluded.total, excluded.allowed, excluded.throttled, excluded.blocked, excluded.exempt, excluded.failed,
                    excluded.cache_hits, excluded.cache_misses, excluded.last_request_at)
            """;

    private static final String READ_LATENCIES = """
            SELECT endpoint, region, latency FROM %1$s
            WHERE granularity = :parts AND period_start >= %2$s AND period_start < %3$s AND resource = '' AND user_id = ''
                AND latency IS NOT NULL
            """;

    private static final String SET_LATENCY = """
            UPDATE %1$s SET latency = :latency
            WHERE granularity = :whole AND period_start = %2$s AND resource = '' AND user_id = '' AND endpoint = :endpoint
                AND region = :region AND instance = '' AND (latency IS NULL OR latency <> :latency)
            """;

    private static final String DELETE_EMPTY = """
            DELETE FROM %1$s
            WHERE granularity = :whole AND period_start = %2$s AND instance = '' AND total = 0 AND cache_hits = 0
                AND cache_misses = 0 AND latency IS NULL
            """;

    private final AuditDatabase database;
    private final int busiest;

    /**
     * @param busiest how many subjects get a row of a period though they were not denied
     */
    TotalsSums(AuditDatabase database, int busiest) {
        this.database = database;
        this.busiest = busiest;
    }

    /**
     * Brings hours and days up to date, unless another instance does.
     *
     * @param firstWritten the first minute that this instance has written since the last run, in microseconds. It may be older
     *     than those that every run sums up
     * @return whether it did
     */
    boolean run(Instant now, long firstWritten) {
        return database.runAlone("sums", () -> {
            sum(Granularity.MINUTE, Granularity.HOUR, now, firstWritten);
            sum(Granularity.HOUR, Granularity.DAY, now, firstWritten);
        });
    }

    /** Whether other instances may not sum that minute up. */
    static boolean isLate(long minuteMicros, Instant now) {
        return minuteMicros < Micros.of(now.minus(LATE_MINUTES));
    }

    private void sum(Granularity parts, Granularity whole, Instant now, long firstWritten) {
        long nowMicros = Micros.of(now);
        Long last = start("max", whole, 0);
        long latest = Math.min(firstWritten, Micros.of(now.minus(LATE_MINUTES)));
        long first = Math.max(last == null ? 0 : last, Micros.of(now.minus(LONGEST_GAP)));
        Long next = start("min", parts, startMicros(whole, Math.min(latest, first)));
        while (next != null && next <= nowMicros) {
            long start = startMicros(whole, next);
            sum(parts, whole, start);
            next = start("min", parts, start + Micros.of(whole.length()));
        }
    }

    /** The start of the period that holds the moment. */
    private static long startMicros(Granularity granularity, long micros) {
        return micros - Math.floorMod(micros, Micros.of(granularity.length()));
    }

    /** The start of the first or last period with totals from a moment on, or {@code null}. */
    private @Nullable Long start(String aggregate, Granularity granularity, long fromMicros) {
        return database.jdbc()
                .queryForObject(
                        "SELECT " + database.micros(aggregate + "(period_start)") + " FROM "
                                + database.table(AuditDatabase.TOTALS)
                                + " WHERE granularity = :granularity AND period_start >= " + database.moment(":from"),
                        Map.of("granularity", granularity.keyword(), "from", fromMicros),
                        Long.class);
    }

    /** Sets the rows of one period. */
    private void sum(Granularity parts, Granularity whole, long start) {
        MapSqlParameterSource period = new MapSqlParameterSource()
                .addValue("parts", parts.keyword())
                .addValue("whole", whole.keyword())
                .addValue("from", start)
                .addValue("until", start + Micros.of(whole.length()))
                .addValue("denied", MinuteTotals.MOST_SUBJECT_ROWS)
                .addValue("busiest", busiest);
        int unused = database.jdbc().update(sql(SUM), period);
        setLatencies(period);
        unused = database.jdbc().update(sql(DELETE_EMPTY), period);
    }

    private void setLatencies(MapSqlParameterSource period) {
        record Place(String endpoint, String region) {}

        Map<Place, Latencies> latencies = new HashMap<>();
        database.jdbc().query(sql(READ_LATENCIES), period, (RowCallbackHandler) row -> latencies
                .computeIfAbsent(
                        new Place(row.getString("endpoint"), row.getString("region")), absent -> Latencies.ofPeriod())
                .add(row.getBytes("latency")));
        SqlParameterSource[] updates = latencies.entrySet().stream()
                .map(one -> new MapSqlParameterSource(period.getValues())
                        .addValue("endpoint", one.getKey().endpoint)
                        .addValue("region", one.getKey().region)
                        .addValue("latency", one.getValue().stored()))
                .toArray(SqlParameterSource[]::new);
        if (updates.length > 0) {
            int[] unused = database.jdbc().batchUpdate(sql(SET_LATENCY), updates);
        }
    }

    private String sql(String template) {
        return template.formatted(
                database.table(AuditDatabase.TOTALS), database.moment(":from"), database.moment(":until"));
    }

    /** The counts of a row. */
    static Totals totals(ResultSet row) throws SQLException {
        long allowed = row.getLong("allowed");
        long throttled = row.getLong("throttled");
        long blocked = row.getLong("blocked");
        long exempt = row.getLong("exempt");
        long failed = row.getLong("failed");
        return new Totals(allowed + throttled + blocked + exempt + failed, allowed, throttled, blocked, exempt, failed);
    }
}
