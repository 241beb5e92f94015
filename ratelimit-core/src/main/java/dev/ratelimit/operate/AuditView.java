package dev.ratelimit.operate;

import dev.ratelimit.audit.report.AuditEntry;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A row of the audit trail.
 *
 * @param decision how the request came out, such as {@code throttled}
 * @param requests the number of equal requests that the row is of
 * @param retryAfter how long the client was told to wait, such as {@code 12s}; {@code null} if it was not
 * @param latencyMicros how long the decisions took
 */
public record AuditView(
        Instant at,
        String decision,
        long requests,
        AuditEntry.Sender who,
        AuditEntry.Exchange what,
        Cause cause,
        @Nullable String retryAfter,
        long latencyMicros) {

    /** The limit or rule that decided; see {@link AuditEntry.Cause}. */
    public record Cause(
            @Nullable String rule,
            @Nullable Integer ruleVersion,
            @Nullable String limit,
            @Nullable String subject,
            long count,
            long capacity,
            String server) {}

    static AuditView of(AuditEntry entry) {
        AuditEntry.Cause cause = entry.cause();
        Duration wait = cause.retryAfter();
        return new AuditView(
                entry.at(),
                entry.decision().keyword(),
                entry.requests(),
                entry.who(),
                entry.what(),
                new Cause(
                        cause.rule(),
                        cause.ruleVersion(),
                        cause.limit(),
                        cause.subject(),
                        cause.count(),
                        cause.capacity(),
                        entry.origin().server()),
                wait == null ? null : Times.spoken(wait),
                entry.latency().toNanos() / 1_000);
    }
}
