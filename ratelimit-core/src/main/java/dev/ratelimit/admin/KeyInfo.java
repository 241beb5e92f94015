package dev.ratelimit.admin;

import dev.ratelimit.Micros;
import dev.ratelimit.data.KeyRow;
import dev.ratelimit.data.StoredKeys;
import dev.ratelimit.policy.ApiKey;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An API key as it is stored. Holds nothing of its secret.
 *
 * @param lastUsedAt when it was used last, as far as is written; {@code null} if never
 * @param totalRequests how often it was used, as far as is written
 */
public record KeyInfo(
        ApiKey key,
        String createdBy,
        Instant createdAt,
        @Nullable Instant expiresAt,
        @Nullable Instant revokedAt,
        @Nullable String revokedBy,
        @Nullable Instant lastUsedAt,
        long totalRequests) {

    /** Whether it is recognised. */
    public boolean isActive(Instant now) {
        return revokedAt == null && (expiresAt == null || expiresAt.isAfter(now));
    }

    static KeyInfo of(KeyRow row) {
        return new KeyInfo(
                StoredKeys.key(row),
                row.createdBy(),
                Micros.toInstant(row.createdAt()),
                moment(row.expiresAt()),
                moment(row.revokedAt()),
                row.revokedBy(),
                moment(row.lastUsedAt()),
                row.totalRequests());
    }

    private static @Nullable Instant moment(long micros) {
        return micros == 0 ? null : Micros.toInstant(micros);
    }
}
