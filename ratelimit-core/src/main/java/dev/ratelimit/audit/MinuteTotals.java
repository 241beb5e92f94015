package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.Reports.Granularity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The totals of this instance in one minute, in bounded memory. Subjects that were denied, and the busiest ones, get rows of
 * their own; the rest share a row. A subject that has once got a row keeps it until the minute is over: otherwise its requests
 * would be in two rows. If nobody is left in the shared row, that row is written again, with zeros. Not safe for use by many
 * threads.
 */
final class MinuteTotals {

    /** The maximum number of keys in memory; further keys share the row of their limit and endpoint. */
    static final int MOST_KEYS = 20_000;

    /** The maximum number of rows per minute that name a subject. */
    static final int MOST_SUBJECT_ROWS = 2_000;

    private final long minuteMicros;
    private final Map<TotalsKey, Tally> tallies = new HashMap<>();
    private final Map<String, Latencies> latencyByEndpoint = new HashMap<>();
    private final Set<TotalsKey> withRow = new HashSet<>();

    /** The rows that the database may have. */
    private final Map<TotalsKey, Sent> sent = new HashMap<>();

    /** Without an acknowledgement, the row may be stored or not. */
    private record Sent(Tally tally, boolean acknowledged) {}

    MinuteTotals(long minuteMicros) {
        this.minuteMicros = minuteMicros;
    }

    long minuteMicros() {
        return minuteMicros;
    }

    void add(TotalsKey key, AuditDecision decision, long atMicros) {
        tally(key).add(decision, atMicros);
    }

    void addLatency(String endpoint, long micros) {
        latencyByEndpoint
                .computeIfAbsent(endpoint, absent -> Latencies.ofSeconds())
                .add(micros);
    }

    void addCache(long hits, long misses, long atMicros) {
        tally(new TotalsKey("", "", "")).addCache(hits, misses, atMicros);
    }

    void add(MinuteTotals other) {
        other.tallies.forEach((key, tally) -> tally(key).add(tally));
        other.latencyByEndpoint.forEach((endpoint, latencies) -> latencyByEndpoint
                .computeIfAbsent(endpoint, absent -> Latencies.ofPeriod())
                .add(latencies));
    }

    private Tally tally(TotalsKey key) {
        Tally tally = tallies.get(key);
        if (tally == null) {
            TotalsKey bounded = tallies.size() < MOST_KEYS ? key : key.ofOthers();
            tally = tallies.computeIfAbsent(bounded, absent -> new Tally());
        }
        return tally;
    }

    /**
     * The rows that differ from those of the database, or may differ. A row replaces the one that was written before.
     *
     * @param busiest how many subjects get a row though they were not denied
     */
    List<TotalsRow> changedRows(int busiest, String region, String instance) {
        Map<TotalsKey, Tally> rows = rows(busiest);
        // Its last subject has got a row: what was sent would count those requests a second time.
        sent.forEach((key, before) ->
                rows.computeIfAbsent(key, absent -> Tally.ofNone(before.tally().lastMicros())));
        List<TotalsRow> changed = new ArrayList<>();
        rows.forEach((key, tally) -> {
            if (!new Sent(tally, true).equals(sent.get(key))) {
                changed.add(
                        new TotalsRow(minuteMicros, Granularity.MINUTE, key, region, instance, tally, latencies(key)));
            }
        });
        return changed;
    }

    private Map<TotalsKey, Tally> rows(int busiest) {
        chooseSubjects(busiest);
        Map<TotalsKey, Tally> rows = new HashMap<>();
        tallies.forEach((key, tally) -> rows.computeIfAbsent(
                        withRow.contains(key) ? key : key.ofOthers(), absent -> new Tally())
                .add(tally));
        return rows;
    }

    /** Takes little memory from now on, once the minute is over: it may wait for the database for long. */
    void keepRowsOnly(int busiest) {
        Map<TotalsKey, Tally> rows = rows(busiest);
        tallies.clear();
        tallies.putAll(rows);
        latencyByEndpoint.values().forEach(Latencies::compact);
    }

    /** Only whole requests have a latency. */
    private @Nullable Latencies latencies(TotalsKey key) {
        return key.limit().isEmpty() && key.subject().isEmpty() ? latencyByEndpoint.get(key.endpoint()) : null;
    }

    /** Remembers that these rows are about to be written. If the answer is lost, they may be stored. */
    void markSent(List<TotalsRow> rows) {
        rows.forEach(row -> sent.put(row.key(), new Sent(row.tally(), false)));
    }

    /** Remembers that these rows were written. */
    void markWritten(List<TotalsRow> rows) {
        rows.forEach(row -> sent.put(row.key(), new Sent(row.tally(), true)));
    }

    private void chooseSubjects(int busiest) {
        List<Map.Entry<TotalsKey, Tally>> candidates = tallies.entrySet().stream()
                .filter(entry -> !entry.getKey().subject().isEmpty() && !withRow.contains(entry.getKey()))
                .toList();
        candidates.stream()
                .filter(entry -> entry.getValue().denied() > 0)
                .sorted(Comparator.comparingLong(entry -> -entry.getValue().denied()))
                .limit(Math.max(0, MOST_SUBJECT_ROWS - withRow.size()))
                .forEach(entry -> withRow.add(entry.getKey()));
        long allowedRows = withRow.stream()
                .filter(key -> Objects.requireNonNull(tallies.get(key)).denied() == 0)
                .count();
        candidates.stream()
                .filter(entry -> entry.getValue().denied() == 0)
                .sorted(Comparator.comparingLong(entry -> -entry.getValue().total()))
                .limit(Math.max(0, Math.min(busiest - allowedRows, MOST_SUBJECT_ROWS - withRow.size())))
                .forEach(entry -> withRow.add(entry.getKey()));
    }
}
