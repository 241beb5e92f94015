package dev.ratelimit.event;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An operator blocked all requests from an address or a range, or changed the end of a block.
 *
 * @param addresses such as {@code 203.0.113.7/32}
 * @param until the end, or {@code null} if there is none
 */
public record AddressBlockedEvent(
        String addresses,
        @Nullable Instant until,
        @Nullable String by,
        @Nullable String reason) implements RateLimitEvent {}
