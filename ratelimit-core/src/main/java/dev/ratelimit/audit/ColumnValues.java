package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.support.Micros;
import org.jspecify.annotations.Nullable;

/** The values of rows, in the order in which both databases write them. Moments are whole microseconds. */
final class ColumnValues {

    private ColumnValues() {}

    static @Nullable Object[] of(AuditEntry entry) {
        AuditEntry.Cause cause = entry.cause();
        return new @Nullable Object[] {
            Micros.of(entry.at()),
            entry.id().toString(),
            entry.who().user(),
            entry.who().apiKey(),
            entry.who().address(),
            entry.what().endpoint(),
            entry.what().method(),
            entry.what().status() == 0 ? null : entry.what().status(),
            entry.decision().keyword(),
            entry.requests(),
            cause.rule(),
            cause.ruleVersion(),
            cause.limit(),
            cause.subject(),
            cause.limit() == null ? null : cause.count(),
            cause.limit() == null ? null : cause.capacity(),
            cause.retryAfter() == null ? null : cause.retryAfter().toSeconds(),
            cause.local(),
            Micros.of(entry.latency()),
            entry.origin().server(),
            entry.origin().region()
        };
    }

    static @Nullable Object[] of(TotalsRow row) {
        Reports.Totals totals = row.tally().totals();
        return new @Nullable Object[] {
            row.periodMicros(),
            row.granularity().keyword(),
            row.key().limit(),
            row.key().subject(),
            row.key().endpoint(),
            row.region(),
            row.instance(),
            totals.total(),
            totals.allowed(),
            totals.throttled(),
            totals.blocked(),
            totals.exempt(),
            totals.failed(),
            row.tally().cacheHits(),
            row.tally().cacheMisses(),
            row.tally().lastMicros(),
            row.latency() == null ? null : row.latency().stored()
        };
    }
}
