package dev.ratelimit.event;

import dev.ratelimit.Subject;
import java.time.Instant;

/** A violation on this instance brought a penalty about. The {@link LimitExceededEvent} of the violation comes first. */
public record PenaltyBegunEvent(String limit, Subject subject, Instant at, Instant until) implements RateLimitEvent {}
