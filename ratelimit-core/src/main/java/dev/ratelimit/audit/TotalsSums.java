package dev.ratelimit.audit;

import dev.ratelimit.audit.report.Reports.Granularity;
import dev.ratelimit.audit.report.Reports.Totals;
import dev.ratelimit.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sums minutes to hours, and hours to days, over all instances. Each run computes the latest periods anew and replaces their
 * rows: so it does not matter how often it runs, nor whether a minute was written late.
 */
final class TotalsSums {

    /** Other instances sum up their minutes themselves if they write them later than that. */
    private static final Duration LATE_MINUTES = Duration.ofHours(2);

    /** If nothing ran for longer, the sums before are lost. */
    private static final Duration LONGEST_GAP = Duration.ofDays(31);

    private static final int ROWS_AT_ONCE = 1_000;

    private final AuditDatabase database;

    TotalsSums(AuditDatabase database) {
        this.database = database;
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
        Long last = start("max", whole);
        Long first = last == null ? start("min", parts) : last;
        if (first == null) {
            return;
        }
        long latest = Math.min(firstWritten, Micros.of(now.minus(LATE_MINUTES)));
        long from = startMicros(whole, Math.min(latest, Math.max(first, Micros.of(now.minus(LONGEST_GAP)))));
        for (long start = from; start <= nowMicros; start += Micros.of(whole.length())) {
            List<TotalsRow> sums = sums(parts, whole, start);
            for (int i = 0; i < sums.size(); i += ROWS_AT_ONCE) {
                database.setTotals(sums.subList(i, Math.min(sums.size(), i + ROWS_AT_ONCE)));
            }
        }
    }

    /** The start of the period that holds the moment. */
    private static long startMicros(Granularity granularity, long micros) {
        return micros - Math.floorMod(micros, Micros.of(granularity.length()));
    }

    /** The start of the first or last period with totals, or {@code null}. */
    private @Nullable Long start(String aggregate, Granularity granularity) {
        return database.jdbc()
                .queryForObject(
                        "SELECT " + aggregate + "(" + database.micros("period_start") + ") FROM "
                                + database.table(AuditDatabase.TOTALS) + " WHERE granularity = :granularity",
                        Map.of("granularity", granularity.keyword()),
                        Long.class);
    }

    /** The rows of one period. */
    private List<TotalsRow> sums(Granularity parts, Granularity whole, long start) {
        record Key(TotalsKey key, String region) {}

        Map<Key, Tally> tallies = new LinkedHashMap<>();
        Map<Key, Latencies> latencies = new LinkedHashMap<>();
        database.jdbc()
                .query(
                        "SELECT resource, user_id, endpoint, region, allowed, throttled, blocked, exempt, failed, cache_hits,"
                                + " cache_misses, " + database.micros("last_request_at")
                                + " AS last_micros, latency FROM "
                                + database.table(AuditDatabase.TOTALS)
                                + " WHERE granularity = :granularity AND period_start >= " + database.moment(":from")
                                + " AND period_start < " + database.moment(":until"),
                        Map.of(
                                "granularity",
                                parts.keyword(),
                                "from",
                                start,
                                "until",
                                start + Micros.of(whole.length())),
                        row -> {
                            Key key = new Key(
                                    new TotalsKey(
                                            row.getString("resource"),
                                            row.getString("user_id"),
                                            row.getString("endpoint")),
                                    row.getString("region"));
                            tallies.computeIfAbsent(key, absent -> new Tally()).add(tally(row));
                            byte[] stored = row.getBytes("latency");
                            if (stored != null) {
                                latencies
                                        .computeIfAbsent(key, absent -> Latencies.ofPeriod())
                                        .add(stored);
                            }
                        });
        List<TotalsRow> rows = new ArrayList<>();
        tallies.forEach((key, tally) ->
                rows.add(new TotalsRow(start, whole, key.key, key.region, "", tally, latencies.get(key))));
        return rows;
    }

    private static Tally tally(ResultSet row) throws SQLException {
        Tally tally = Tally.of(totals(row), row.getLong("last_micros"));
        tally.addCache(row.getLong("cache_hits"), row.getLong("cache_misses"), 0);
        return tally;
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
