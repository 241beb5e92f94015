package dev.ratelimit.event;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An operator blocked all requests of a user, or changed the end of a block. */
public record UserBlockedEvent(
        String user, Instant until, @Nullable String reason) implements RateLimitEvent {}
