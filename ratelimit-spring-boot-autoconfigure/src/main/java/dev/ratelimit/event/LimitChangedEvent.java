package dev.ratelimit.event;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Another version of a limit is in force on this instance: it was changed, rolled back or switched, or a version expired.
 *
 * @param version the stored version; {@code null} if the configuration applies again
 * @param by the author of that version
 * @param until when it expires, or {@code null}
 */
public record LimitChangedEvent(
        String limit,
        @Nullable Integer version,
        @Nullable String by,
        @Nullable String reason,
        @Nullable Instant until) implements RateLimitEvent {}
