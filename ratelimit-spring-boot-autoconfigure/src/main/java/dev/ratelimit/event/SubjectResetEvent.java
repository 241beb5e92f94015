package dev.ratelimit.event;

import dev.ratelimit.Subject;

/** An operator reset counts of a subject, and ended its penalties with them. */
public record SubjectResetEvent(Subject subject) implements RateLimitEvent {}
