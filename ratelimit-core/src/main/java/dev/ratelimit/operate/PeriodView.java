package dev.ratelimit.operate;

import dev.ratelimit.audit.report.Reports;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one minute, hour or day.
 *
 * @param decisionTime how long decisions took; {@code null} if none was taken
 */
public record PeriodView(
        Instant start, Reports.Totals totals, @Nullable Micros decisionTime) {

    /** Percentiles in microseconds. */
    public record Micros(long p50, long p95, long p99) {}

    static PeriodView of(Reports.Period period) {
        Reports.Percentiles times = period.decisionTime();
        return new PeriodView(
                period.start(),
                period.totals(),
                times == null
                        ? null
                        : new Micros(
                                times.p50().toNanos() / 1_000,
                                times.p95().toNanos() / 1_000,
                                times.p99().toNanos() / 1_000));
    }
}
