package dev.ratelimit.admin;

import java.time.Instant;

/**
 * A penalty that is not over.
 *
 * @param subject the text of the subject, see {@link dev.ratelimit.Subject#ofText}
 * @param violations how many are remembered
 */
public record PenaltyEntry(String subject, String limit, long violations, Instant lastViolationAt, Instant until) {}
