package dev.ratelimit.event;

/** The store no longer decides the requests of this instance; {@code on-failure} does. */
public record StoreLostEvent(String reason) implements RateLimitEvent {}
