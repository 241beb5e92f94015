package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.policy.Response;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a request may not pass.
 *
 * @param decision what the limits said, or {@code null} if none was asked
 * @param response how the rule that denied wants it answered
 * @param remaining how long the client should wait; zero if waiting does not help, or nothing is known
 */
public record Rejection(Reason reason, @Nullable Decision decision, Response response, Duration remaining) {

    /** Why a request may not pass, with the status that is usual for it. */
    public enum Reason {
        /** A limit denied. */
        LIMITED(429),
        /** No decision could be had, and the failure policy is closed. */
        UNAVAILABLE(503),
        /** A rule says block, or the user is blocked. */
        BLOCKED(403),
        /** The API key is unknown, has expired or was revoked. */
        UNKNOWN_API_KEY(401);

        private final int status;

        Reason(int status) {
            this.status = status;
        }
    }

    /** By limits, or by the failure policy. */
    public static Rejection of(Decision decision, Response response) {
        return new Rejection(
                decision.outcome().isDecided() ? Reason.LIMITED : Reason.UNAVAILABLE,
                decision,
                response,
                decision.retryAfter());
    }

    /** By limits, or by the failure policy; answered as usual. */
    public static Rejection of(Decision decision) {
        return of(decision, Response.USUAL);
    }

    /** By a rule, or until a time. */
    static Rejection blocked(Response response, Duration remaining) {
        return new Rejection(Reason.BLOCKED, null, response, remaining);
    }

    static Rejection unknownApiKey() {
        return new Rejection(Reason.UNKNOWN_API_KEY, null, Response.USUAL, Duration.ZERO);
    }

    public int status() {
        Integer chosen = response.status();
        // A failing store is no fault of the client, whatever a rule says of its own denials.
        return chosen != null && reason != Reason.UNAVAILABLE ? chosen : reason.status;
    }

    /** The seconds for a {@code Retry-After} header: rounded up; zero if there is nothing to say. */
    public long retryAfterSeconds() {
        Duration least = response.retryAfter();
        Duration longest = least != null && least.compareTo(remaining) > 0 ? least : remaining;
        long seconds = longest.getSeconds() + (longest.getNano() > 0 ? 1 : 0);
        return decision == null ? seconds : Math.max(1, seconds);
    }
}
