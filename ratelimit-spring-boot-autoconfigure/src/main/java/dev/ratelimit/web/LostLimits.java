package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.UnknownLimitException;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.Micros;
import dev.ratelimit.support.OncePerMinute;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers for limits that an annotation or a property names, and that no longer exist. Such a limit was stored: somebody removed it,
 * it has expired, or its database was lost.
 *
 * <p>Nothing can be counted without the numbers of a limit, so the failure policy applies, as it does without a store. Closed
 * rejects. Open passes, and so does local: this instance can decide without the store, but not without the limit.
 */
public final class LostLimits {

    private static final Logger log = LoggerFactory.getLogger(LostLimits.class);

    private final Limits limits;
    private final OncePerMinute warnings = new OncePerMinute();

    public LostLimits(Limits limits) {
        this.limits = limits;
    }

    /** Whether there is no limit of that name now. */
    public boolean isLost(String limit) {
        return limits.find(limit) == null;
    }

    /**
     * The decision without the limit.
     *
     * @param place the annotation or property that names the limit, for the log
     */
    public Decision decide(String limit, String place, FailurePolicy policy) {
        boolean passes = policy != FailurePolicy.CLOSED;
        warn(limit, place, passes ? "passing requests without it" : "rejecting requests, since on-failure is closed");
        return new Decision(
                Outcome.FAILED,
                passes,
                Micros.of(Instant.now()),
                List.of(),
                Duration.ZERO,
                new UnknownLimitException(limit, limits.names()));
    }

    /**
     * Logs that a limit is lost, once a minute at most.
     *
     * @param consequence begins with a verb, such as {@code passing requests without it}
     */
    public void warn(String limit, String place, String consequence) {
        if (warnings.mayTell(place + " " + limit)) {
            log.warn(
                    "{} names the limit '{}', which no longer exists; {} (logged once a minute at most). Store it again, or"
                            + " define it under ratelimit.limits",
                    place,
                    LogText.of(limit),
                    consequence);
        }
    }
}
