package dev.ratelimit.audit.report;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row of the audit trail: a request, or several equal denials of one second. It has nine components, since its parts are
 * grouped already and each of the rest stands for itself.
 *
 * @param id chosen by the instance, so that a repeated write adds nothing
 * @param at when the request was complete; of several, the first
 * @param decision how it came out
 * @param requests the number of requests that the row is of
 * @param who the sender
 * @param what the request and its response
 * @param cause the limit or rule that decided
 * @param latency how long the decisions took; of several requests, the longest
 * @param origin the instance that decided
 */
public record AuditEntry(
        UUID id,
        Instant at,
        AuditDecision decision,
        long requests,
        Sender who,
        Exchange what,
        Cause cause,
        Duration latency,
        Origin origin) {

    /** The sender of a request, as far as it is known. */
    public record Sender(
            @Nullable String user,
            @Nullable String apiKey,
            @Nullable String address) {

        /** For a request without a known sender. */
        public static final Sender NOBODY = new Sender(null, null, null);
    }

    /**
     * A request and its response.
     *
     * @param endpoint the pattern of the handler. If no handler was reached, the path; of several requests, the first
     * @param status zero if there was no response
     */
    public record Exchange(
            @Nullable String method, @Nullable String endpoint, int status) {

        /** For a decision outside of a request. */
        public static final Exchange NO_EXCHANGE = new Exchange(null, null, 0);
    }

    /**
     * The limit or rule that decided about a request.
     *
     * @param ruleVersion of a rule that is stored; {@code null} for one of the configuration
     * @param limit the tightest limit, or {@code null} if none was asked
     * @param subject the subject of that limit
     * @param count how much of the limit was used after the request
     * @param capacity how much the limit grants
     * @param retryAfter how long the client was told to wait; {@code null} if it was not
     * @param local whether the instance decided without the store
     */
    public record Cause(
            @Nullable String rule,
            @Nullable Integer ruleVersion,
            @Nullable String limit,
            @Nullable String subject,
            long count,
            long capacity,
            @Nullable Duration retryAfter,
            boolean local) {}

    /** The instance of the application, and the region it runs in; empty if that is not configured. */
    public record Origin(String server, String region) {}
}
