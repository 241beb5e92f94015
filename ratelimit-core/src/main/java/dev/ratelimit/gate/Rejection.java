package dev.ratelimit.gate;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.Penalties;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.Rule.Response;
import dev.ratelimit.support.Seconds;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Why a request may not pass.
 *
 * @param decision the answer of the limits, or {@code null} if none was asked
 * @param rule the name of the rule that rejects, or {@code null} if no rule does
 * @param response how that rule wants the request answered
 * @param remaining how long the client should wait; zero if waiting does not help, or nothing is known
 */
public record Rejection(
        Reason reason,
        @Nullable Decision decision,
        @Nullable String rule,
        Response response,
        Duration remaining) {

    /** Why a request may not pass, with the status that is usual for it. */
    public enum Reason {
        /** A limit denied. */
        LIMITED(429),
        /** The store is unavailable, and the failure policy is closed. */
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

    /** A rejection by limits, or by the failure policy. */
    public static Rejection of(Decision decision, Response response) {
        LimitDecision tightest = decision.tightest();
        return new Rejection(
                decision.outcome().isDecided() ? Reason.LIMITED : Reason.UNAVAILABLE,
                decision,
                tightest == null ? null : tightest.rule(),
                response,
                decision.isForever() ? Duration.ZERO : decision.retryAfter());
    }

    /** A rejection by limits, or by the failure policy, with the default response. */
    public static Rejection of(Decision decision) {
        return of(decision, Response.USUAL);
    }

    /** A rejection by a rule that says block. */
    static Rejection by(Rule rule) {
        return new Rejection(Reason.BLOCKED, null, rule.name(), rule.response(), Duration.ZERO);
    }

    /** Rejects a user who is blocked for that time, or {@link Penalties#FOREVER}. */
    static Rejection blocked(Duration remaining) {
        Duration wait = Penalties.isForever(remaining) ? Duration.ZERO : remaining;
        return new Rejection(Reason.BLOCKED, null, null, Response.USUAL, wait);
    }

    static Rejection unknownApiKey() {
        return new Rejection(Reason.UNKNOWN_API_KEY, null, null, Response.USUAL, Duration.ZERO);
    }

    /** The outcome of the request. */
    public Outcome outcome() {
        return switch (reason) {
            case BLOCKED -> Outcome.BLOCKED;
            case UNKNOWN_API_KEY -> Outcome.UNKNOWN_API_KEY;
            case LIMITED, UNAVAILABLE -> Objects.requireNonNull(decision).outcome();
        };
    }

    public int status() {
        Integer chosen = response.status();
        // A failing store is no fault of the client, whichever status the rule has for its own denials.
        return chosen != null && reason != Reason.UNAVAILABLE ? chosen : reason.status;
    }

    /**
     * How many violations are counted against the sender, this request included: the most that any limit which denied it has.
     * Zero if no limit denied it, or none of them has penalties.
     */
    public long violations() {
        long most = 0;
        for (LimitDecision limit : decision == null ? List.<LimitDecision>of() : decision.limits()) {
            most = Math.max(most, limit.violations());
        }
        return most;
    }

    /** The seconds for a {@code Retry-After} header: rounded up; zero if there is nothing to say. */
    public long retryAfterSeconds() {
        long seconds = decision == null ? Seconds.roundedUp(remaining) : decision.retryAfterSeconds();
        Duration least = response.retryAfter();
        return least == null ? seconds : Math.max(seconds, Seconds.roundedUp(least));
    }
}
