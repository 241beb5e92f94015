package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.setting.Durations;
import java.time.Duration;
import java.util.Objects;

/** The sentence that tells a person why a request was rejected, and when to try again. */
final class RejectionMessage {

    private RejectionMessage() {}

    static String detail(Rejection rejection) {
        long seconds = rejection.retryAfterSeconds();
        String again = seconds == 0 ? "" : " Try again in " + Durations.spoken(Duration.ofSeconds(seconds)) + ".";
        return switch (rejection.reason()) {
            case LIMITED, UNAVAILABLE -> reason(Objects.requireNonNull(rejection.decision())) + again;
            case BLOCKED -> "Requests like this one are blocked." + again;
            case UNKNOWN_API_KEY -> "The API key is unknown, has expired or was revoked.";
        };
    }

    private static String reason(Decision decision) {
        LimitDecision limit = decision.tightest();
        if (limit == null) {
            return "Requests cannot be counted at the moment.";
        }
        if (decision.penaltyUntil() != null) {
            return "You repeatedly exceeded the limit and are " + (decision.isForever() ? "" : "temporarily ")
                    + "blocked.";
        }
        if (limit.limit().hasMinInterval() && limit.remaining() > 0) {
            return "Requests must be at least " + Durations.spoken(limit.limit().minInterval()) + " apart.";
        }
        return limit.limit().algorithm().sentence();
    }
}
