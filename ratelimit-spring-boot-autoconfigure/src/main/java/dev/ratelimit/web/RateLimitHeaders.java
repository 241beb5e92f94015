package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.support.Seconds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The headers that tell a client about its limits. A request may be decided more than once (by address before
 * authentication, by user after it, by an annotation); the headers then show the tightest of all its limits.
 *
 * @param legacy whether to write {@code X-RateLimit-Limit}, {@code -Remaining} and {@code -Reset}
 * @param standard whether to write {@code RateLimit-Policy} and {@code RateLimit}
 */
public record RateLimitHeaders(boolean legacy, boolean standard) {

    /**
     * Writes the headers.
     *
     * @param decisions those of the request so far, the latest last
     * @param response takes the name and the value of each header
     */
    public void write(List<Decision> decisions, BiConsumer<String, String> response) {
        List<LimitDecision> limits = limits(decisions);
        LimitDecision tightest = LimitDecision.tightest(limits);
        if (tightest == null) {
            return;
        }
        if (legacy) {
            response.accept("X-RateLimit-Limit", Long.toString(tightest.limit().capacity()));
            response.accept("X-RateLimit-Remaining", Long.toString(tightest.remaining()));
            response.accept("X-RateLimit-Reset", Long.toString(Seconds.roundedUp(tightest.resetAt())));
        }
        if (standard) {
            response.accept("RateLimit-Policy", policies(limits));
            response.accept(
                    "RateLimit",
                    '"' + tightest.limit().name() + "\";r=" + tightest.remaining() + ";t="
                            + Seconds.roundedUp(
                                    Duration.between(latest(decisions).at(), tightest.resetAt())));
        }
    }

    /** The last decision by limits; one without limits has no time of the store. */
    private static Decision latest(List<Decision> decisions) {
        int last = decisions.size() - 1;
        while (last > 0 && decisions.get(last).limits().isEmpty()) {
            last--;
        }
        return decisions.get(last);
    }

    /** The latest answer of each limit. Limits that count without restricting are no business of the client. */
    private static List<LimitDecision> limits(List<Decision> decisions) {
        List<LimitDecision> limits = new ArrayList<>(4);
        for (Decision decision : decisions) {
            for (LimitDecision one : decision.limits()) {
                if (one.limit().capacity() != Limit.UNRESTRICTED) {
                    if (!limits.isEmpty()) {
                        limits.removeIf(earlier ->
                                earlier.isOf(one.subject(), one.limit().name()));
                    }
                    limits.add(one);
                }
            }
        }
        return limits;
    }

    private static String policies(List<LimitDecision> limits) {
        StringBuilder policies = new StringBuilder(64);
        for (LimitDecision one : limits) {
            policies.append(policies.isEmpty() ? "\"" : ", \"")
                    .append(one.limit().name())
                    .append("\";q=")
                    .append(one.limit().capacity())
                    .append(";w=")
                    .append(Seconds.roundedUp(one.limit().algorithm().window()));
        }
        return policies.toString();
    }
}
