package dev.ratelimit.policy;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a rule to denied requests, where it differs from the usual one.
 *
 * @param status the status, or {@code null} for 429 (throttle) or 403 (block)
 * @param message the sentence for people, or {@code null} for the usual one
 * @param retryAfter the least retry-after, or {@code null} for that of the limits
 */
public record Response(
        @Nullable Integer status,
        @Nullable String message,
        @Nullable Duration retryAfter) {

    /** As usual in everything. */
    public static final Response USUAL = new Response(null, null, null);
}
