package dev.ratelimit;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The record of one request, complete when its response is. Metrics, events, the audit trail with its totals, and the warnings of
 * the monitor are made from it. The instance and its region are no part of it: they are the same for all records of an instance,
 * and the audit trail adds them.
 *
 * @param outcome how it came out; for a request that was let through or rejected because the store was unavailable, the outcome
 *     of its decision, and {@code allowed} says which
 * @param allowed whether the limits let it pass
 * @param rule the name of the rule that rejected it; if it was not rejected, of the rule that brought in the
 *     {@link #tightest()} limit; {@code null} if there is none
 * @param ruleVersion the version of that rule if it is stored; {@code null} if it comes from the configuration
 * @param retryAfter how long the client was told to wait; zero if it was not. Of a decision that the application asked for
 *     itself, the same in whole seconds
 * @param asked the limits that were asked, with their answers, in order
 * @param exchange the web request, or {@code null} if the application asked the limiter itself
 * @param at when it came
 */
public record RequestRecord(
        Outcome outcome,
        boolean allowed,
        @Nullable String rule,
        @Nullable Integer ruleVersion,
        Duration retryAfter,
        List<Asked> asked,
        @Nullable Exchange exchange,
        Instant at) {

    public RequestRecord {
        asked = List.copyOf(asked);
    }

    /** The record of a decision that the application asked for itself. */
    public static RequestRecord of(LimitRequest request, Decision decision, Duration took) {
        LimitDecision tightest = decision.tightest();
        return new RequestRecord(
                decision.outcome(),
                decision.allowed(),
                tightest == null ? null : tightest.rule(),
                null,
                Duration.ofSeconds(decision.retryAfterSeconds()),
                List.of(new Asked(request, decision, took)),
                null,
                decision.at());
    }

    /** How long its decisions took, waiting included. */
    public Duration took() {
        Duration took = Duration.ZERO;
        for (int i = 0; i < asked.size(); i++) {
            took = took.plus(asked.get(i).took());
        }
        return took;
    }

    /** The answer of the limit that denied it, else of the one with the least room; {@code null} if no limit answered. */
    public @Nullable LimitDecision tightest() {
        return tightest(asked);
    }

    /** The tightest of limits that were asked: see {@link #tightest()}. */
    public static @Nullable LimitDecision tightest(List<Asked> asked) {
        Decision strictest = null;
        for (Asked one : asked) {
            Decision decision = one.decision();
            if (strictest == null
                    || (strictest.allowed() && !decision.allowed())
                    || (strictest.allowed() == decision.allowed() && decision.remaining() < strictest.remaining())) {
                strictest = decision;
            }
        }
        return strictest == null ? null : strictest.tightest();
    }

    /** Whether this instance decided on its own, since the store was unavailable. */
    public boolean decidedLocally() {
        return asked.stream().anyMatch(one -> one.decision().local());
    }

    /**
     * Limits that were asked together, and the answer.
     *
     * @param givenBack whether the charge was given back, because another limit denied the request later
     */
    public record Asked(LimitRequest request, Decision decision, Duration took, boolean givenBack) {

        public Asked(LimitRequest request, Decision decision, Duration took) {
            this(request, decision, took, false);
        }

        /** Whether the limits were charged, and still are. */
        public boolean isCharged() {
            return decision.allowed() && !givenBack;
        }
    }

    /**
     * A web request and its response.
     *
     * @param path as the client sent it, without the query and without parameters such as {@code ;jsessionid=…}
     * @param endpoint the pattern of the handler, such as {@code /api/games/{id}}, or {@code null} if none was reached
     * @param status that of the response; zero if there is none
     * @param address the client's, or {@code null} if it is not known
     * @param user the principal, else the owner of the API key, or {@code null}
     * @param apiKey the id of the API key, or {@code null}
     * @param tier the caller's, or {@code null} if no rule needed it
     */
    public record Exchange(
            String method,
            String path,
            @Nullable String endpoint,
            int status,
            @Nullable String address,
            @Nullable String user,
            @Nullable String apiKey,
            @Nullable String tier) {}
}
