package dev.ratelimit.event;

/** An operator ended the block of a user. The end of a block by time is no event. */
public record UserUnblockedEvent(String user) implements RateLimitEvent {}
