package dev.ratelimit.audit;

import dev.ratelimit.audit.report.Reports.Granularity;
import org.jspecify.annotations.Nullable;

/**
 * A row of totals.
 *
 * @param periodMicros the start of the period
 * @param instance one start of an instance; empty for sums over all of them
 * @param latency {@code null} if the row has a subject or a limit
 */
record TotalsRow(
        long periodMicros,
        Granularity granularity,
        TotalsKey key,
        String region,
        String instance,
        Tally tally,
        @Nullable Latencies latency) {}
