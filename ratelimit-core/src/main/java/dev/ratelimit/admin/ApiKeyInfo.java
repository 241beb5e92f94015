package dev.ratelimit.admin;

import dev.ratelimit.caller.ApiKey;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored API key, without its secret.
 *
 * @param lastUsedAt the last use that is stored; {@code null} for none
 * @param totalRequests the number of uses that are stored
 */
public record ApiKeyInfo(
        ApiKey key,
        String createdBy,
        Instant createdAt,
        @Nullable Instant expiresAt,
        @Nullable Instant revokedAt,
        @Nullable String revokedBy,
        @Nullable Instant lastUsedAt,
        long totalRequests) {

    /** Whether requests with this key are accepted. */
    public boolean isActive(Instant now) {
        return revokedAt == null && (expiresAt == null || expiresAt.isAfter(now));
    }
}
