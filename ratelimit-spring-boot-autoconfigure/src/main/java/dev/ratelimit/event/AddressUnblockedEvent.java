package dev.ratelimit.event;

/**
 * The block of an address or a range has ended: by an operator, or by time.
 *
 * @param addresses such as {@code 203.0.113.7/32}
 */
public record AddressUnblockedEvent(String addresses) implements RateLimitEvent {}
