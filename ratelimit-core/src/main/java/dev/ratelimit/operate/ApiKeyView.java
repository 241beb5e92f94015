package dev.ratelimit.operate;

import dev.ratelimit.admin.ApiKeyInfo;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An API key, without its secret.
 *
 * @param state {@code active}, {@code expired} or {@code revoked}
 * @param lastUsedAt {@code null} if it was not used
 */
public record ApiKeyView(
        String id,
        String name,
        String owner,
        @Nullable String tier,
        String state,
        Instant createdAt,
        @Nullable Instant lastUsedAt,
        long requests) {

    static ApiKeyView of(ApiKeyInfo key, Instant now) {
        return new ApiKeyView(
                key.key().id(),
                key.key().name(),
                key.key().owner(),
                key.key().tier(),
                key.revokedAt() != null ? "revoked" : key.isActive(now) ? "active" : "expired",
                key.createdAt(),
                key.lastUsedAt(),
                key.totalRequests());
    }
}
