package dev.ratelimit.event;

import java.time.Duration;

/** The store decides the requests of this instance again. */
public record StoreRegainedEvent(Duration unavailableFor) implements RateLimitEvent {}
