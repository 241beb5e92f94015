package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes what was decided into the headers of the response. A request may be decided more than once (by address before
 * authentication, by user after it, by an annotation); the headers then show the tightest of all its limits.
 *
 * @param legacy whether to write {@code X-RateLimit-Limit}, {@code -Remaining} and {@code -Reset}
 * @param standard whether to write {@code RateLimit-Policy} and {@code RateLimit}
 */
public record RateLimitHeaders(boolean legacy, boolean standard) {

    private static final String LIMITS = RateLimitHeaders.class.getName() + ".LIMITS";

    public void write(HttpServletRequest request, HttpServletResponse response, Decision decision) {
        if (!decision.allowed()) {
            response.setHeader("Retry-After", Long.toString(decision.retryAfterSeconds()));
        }
        List<LimitDecision> limits = limitsSoFar(request);
        for (LimitDecision one : decision.limits()) {
            if (one.limit().capacity() == Limit.UNRESTRICTED) {
                continue; // counted for whoever asks, and nothing that a client could use up
            }
            limits.removeIf(earlier -> earlier.limit().name().equals(one.limit().name())
                    && earlier.subject().equals(one.subject()));
            limits.add(one);
        }
        LimitDecision tightest = LimitDecision.tightest(limits);
        if (tightest == null) {
            return;
        }
        if (legacy) {
            response.setHeader(
                    "X-RateLimit-Limit", Long.toString(tightest.limit().capacity()));
            response.setHeader("X-RateLimit-Remaining", Long.toString(tightest.remaining()));
            response.setHeader("X-RateLimit-Reset", Long.toString(roundedUp(tightest.resetAt())));
        }
        if (standard) {
            response.setHeader("RateLimit-Policy", policies(limits));
            response.setHeader(
                    "RateLimit",
                    '"' + tightest.limit().name() + "\";r=" + tightest.remaining() + ";t="
                            + seconds(Duration.between(decision.at(), tightest.resetAt())));
        }
    }

    @SuppressWarnings("unchecked")
    private static List<LimitDecision> limitsSoFar(HttpServletRequest request) {
        @Nullable Object known = request.getAttribute(LIMITS);
        if (known == null) {
            known = new ArrayList<LimitDecision>();
            request.setAttribute(LIMITS, known);
        }
        return (List<LimitDecision>) known;
    }

    private static String policies(List<LimitDecision> limits) {
        List<String> policies = new ArrayList<>();
        for (LimitDecision one : limits) {
            policies.add('"' + one.limit().name() + "\";q=" + one.limit().capacity() + ";w="
                    + seconds(one.limit().algorithm().window()));
        }
        return String.join(", ", policies);
    }

    /** Whole seconds since the epoch, not before the moment. */
    static long roundedUp(Instant moment) {
        return moment.getEpochSecond() + (moment.getNano() > 0 ? 1 : 0);
    }

    private static long seconds(Duration time) {
        return Math.max(0, time.toSeconds() + (time.toNanosPart() > 0 ? 1 : 0));
    }
}
