package dev.ratelimit.data;

import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** The violations of a subject ({@code userId}) on a limit ({@code resource}), which together are its key. */
@Table("rate_limit_penalties")
public record PenaltyRow(
        @Id String userId, String resource, long violationCount, long lastViolationAt, long penaltyUntil) {}
