package dev.ratelimit.event;

import dev.ratelimit.RequestRecord;
import dev.ratelimit.Subject;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A violation: this instance denied a request because a limit was used up.
 *
 * @param rule the rule that brought the limit in, or {@code null}
 * @param retryAfter how long the subject must wait
 * @param exchange the web request, or {@code null} if the application asked the limiter itself
 */
public record LimitExceededEvent(
        String limit,
        Subject subject,
        @Nullable String rule,
        Instant at,
        Duration retryAfter,
        RequestRecord.@Nullable Exchange exchange)
        implements RateLimitEvent {}
