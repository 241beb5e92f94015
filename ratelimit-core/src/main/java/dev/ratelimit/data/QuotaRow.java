package dev.ratelimit.data;

import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** What is stored of a user. */
@Table("user_quotas")
public record QuotaRow(
        @Id String userId,
        @Nullable String tier,
        @Nullable Long perSecond,
        @Nullable Long perHour,
        @Nullable Long perDay,
        @Nullable Long perMonth,
        @Nullable Long burst,
        @Nullable String zone,
        long blockedUntil,
        @Nullable String blockReason,
        String changedBy,
        long changedAt) {}
