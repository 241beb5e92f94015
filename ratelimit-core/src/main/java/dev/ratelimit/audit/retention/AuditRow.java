package dev.ratelimit.audit.retention;

import java.time.Instant;
import java.util.Comparator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@code rate_limit_audit_logs} as it is stored. It has one component for each column, so it is long: archives take
 * their columns from it.
 *
 * @param loggedAt in whole microseconds
 * @param logId with the time, the key of the row
 */
public record AuditRow(
        Instant loggedAt,
        UUID logId,
        @Nullable String userId,
        @Nullable String apiKeyId,
        @Nullable String ipAddress,
        @Nullable String endpoint,
        @Nullable String httpMethod,
        @Nullable Integer responseStatus,
        String decision,
        long requests,
        @Nullable String ruleName,
        @Nullable Integer ruleVersion,
        @Nullable String resource,
        @Nullable String subject,
        @Nullable Long currentCount,
        @Nullable Long limitValue,
        @Nullable Long retryAfterSeconds,
        boolean decidedLocally,
        long latencyMicros,
        String serverId,
        String region) {

    /** By time, then by id as databases order them. */
    public static final Comparator<AuditRow> BY_KEY = Comparator.comparing(AuditRow::loggedAt)
            .thenComparing(row -> row.logId().getMostSignificantBits(), Long::compareUnsigned)
            .thenComparing(row -> row.logId().getLeastSignificantBits(), Long::compareUnsigned);

    /** The key, for messages. */
    public String key() {
        return loggedAt + "/" + logId;
    }
}
