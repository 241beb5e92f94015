package dev.ratelimit.data;

import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** What is stored of an API key: enough to recognise it, and nothing to make it from. */
@Table("api_keys")
public record KeyRow(
        @Id String id,
        String keyHash,
        String name,
        String userId,
        @Nullable String tier,
        @Nullable Long perSecond,
        @Nullable Long perHour,
        @Nullable Long perDay,
        @Nullable Long perMonth,
        @Nullable Long burst,
        @Nullable String zone,
        String createdBy,
        long createdAt,
        long expiresAt,
        long revokedAt,
        @Nullable String revokedBy,
        long lastUsedAt,
        long totalRequests) {}
