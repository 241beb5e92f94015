package dev.ratelimit.data;

import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** A version of a rule, as it is stored; lists are separated by commas. See {@link StoredRule}. */
@Table("rate_limit_rules")
public record RuleVersion(
        @Id @Nullable Long id,
        String ruleName,
        int version,
        boolean removed,
        boolean enabled,
        int priority,
        @Nullable String userTier,
        @Nullable String endpointPattern,
        @Nullable String httpMethod,
        @Nullable String ipRange,
        @Nullable String authority,
        @Nullable String apiKey,
        @Nullable String limits,
        @Nullable String subjectKey,
        String action,
        @Nullable Integer responseStatus,
        @Nullable String responseMessage,
        @Nullable Long retryAfterSeconds,
        @Nullable String onFailure,
        String changedBy,
        long changedAt,
        long expiresAt,
        @Nullable String reason)
        implements StoredVersion {

    @Override
    public String name() {
        return ruleName;
    }
}
