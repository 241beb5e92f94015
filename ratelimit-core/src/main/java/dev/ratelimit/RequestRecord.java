package dev.ratelimit;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The record of one request, complete when its response is. Metrics are made from it.
 *
 * @param outcome how it came out; for a request that was let through or rejected because the store was unavailable, the outcome
 *     of its decision, and {@code allowed} says which
 * @param allowed whether the limits let it pass
 * @param rule the name of the rule that rejected it, or {@code null}
 * @param ruleVersion the version of that rule if it is stored; {@code null} if it comes from the configuration
 * @param asked the limits that were asked, with their answers, in order
 * @param exchange the web request, or {@code null} if the application asked the limiter itself
 * @param at when it came
 * @param took how long its decisions took, waiting included
 */
public record RequestRecord(
        Outcome outcome,
        boolean allowed,
        @Nullable String rule,
        @Nullable Integer ruleVersion,
        List<Asked> asked,
        @Nullable Exchange exchange,
        Instant at,
        Duration took) {

    public RequestRecord {
        asked = List.copyOf(asked);
    }

    /** The record of a decision that the application asked for itself. */
    public static RequestRecord of(LimitRequest request, Decision decision, Duration took) {
        return new RequestRecord(
                decision.outcome(),
                decision.allowed(),
                null,
                null,
                List.of(new Asked(request, decision, took)),
                null,
                decision.at(),
                took);
    }

    /** Whether this instance decided on its own, since the store was unavailable. */
    public boolean decidedLocally() {
        return asked.stream().anyMatch(one -> one.decision().local());
    }

    /** Limits that were asked together, and the answer. */
    public record Asked(LimitRequest request, Decision decision, Duration took) {}

    /**
     * A web request and its response.
     *
     * @param path as the client sent it, without the query
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
