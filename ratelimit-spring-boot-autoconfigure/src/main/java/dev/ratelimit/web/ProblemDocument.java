package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.gate.Rejection.Reason;
import dev.ratelimit.support.JsonText;
import dev.ratelimit.support.Seconds;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The body of the answer to a rejected request (RFC 9457): 429 if a limit denied, 503 if the store is unavailable, 403 if a
 * rule blocks, 401 if the API key is not valid.
 */
public final class ProblemDocument {

    public static final String CONTENT_TYPE = "application/problem+json";

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    private ProblemDocument() {}

    /** The document in JSON. */
    public static byte[] of(Rejection rejection) {
        Decision decision = rejection.decision();
        Instant penalty = decision == null ? null : decision.penaltyUntil();
        boolean penalised = penalty != null;
        boolean ends = decision == null || !decision.isForever();
        String message = rejection.response().message();
        return json(
                        field("type", type(rejection.reason(), penalised)),
                        field("title", title(rejection.reason(), penalised)),
                        "\"status\":" + rejection.status(),
                        field("detail", message != null ? message : RejectionMessage.detail(rejection)),
                        "\"violated-policies\":" + violated(decision),
                        field("error", error(rejection.reason())),
                        "\"retry_after\":" + rejection.retryAfterSeconds(),
                        "\"reset_at\":" + resetAt(decision),
                        "\"penalty_active\":" + penalised,
                        "\"penalty_until\":"
                                + (penalty != null && ends ? Long.toString(Seconds.roundedUp(penalty)) : "null"))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String type(Reason reason, boolean penalised) {
        return switch (reason) {
            case LIMITED -> TYPES + (penalised ? "abnormal-usage-detected" : "quota-exceeded");
            case UNAVAILABLE -> TYPES + "temporary-reduced-capacity";
            case BLOCKED, UNKNOWN_API_KEY -> "about:blank";
        };
    }

    private static String title(Reason reason, boolean penalised) {
        return switch (reason) {
            case LIMITED -> penalised ? "Abnormal usage detected" : "Quota exceeded";
            case UNAVAILABLE -> "Service temporarily unavailable";
            case BLOCKED -> "Forbidden";
            case UNKNOWN_API_KEY -> "Unauthorized";
        };
    }

    private static String error(Reason reason) {
        return switch (reason) {
            case LIMITED -> "Rate limit exceeded";
            case UNAVAILABLE -> "Rate limit unavailable";
            case BLOCKED -> "Blocked";
            case UNKNOWN_API_KEY -> "Unknown API key";
        };
    }

    /** When the limit that denies is whole again, as in the header {@code X-RateLimit-Reset}. */
    private static String resetAt(@Nullable Decision decision) {
        LimitDecision tightest = decision == null || decision.isForever() ? null : decision.tightest();
        return tightest == null || tightest.allowed()
                ? "null"
                : JsonText.quoted(Instant.ofEpochSecond(Seconds.roundedUp(tightest.resetAt()))
                        .toString());
    }

    private static String violated(@Nullable Decision decision) {
        List<String> names = new ArrayList<>();
        if (decision != null) {
            for (LimitDecision limit : decision.limits()) {
                if (!limit.allowed()) {
                    names.add(JsonText.quoted(limit.limit().name()));
                }
            }
        }
        return "[" + String.join(",", names) + "]";
    }

    private static String json(String... fields) {
        return "{" + String.join(",", fields) + "}";
    }

    private static String field(String name, String value) {
        return JsonText.quoted(name) + ":" + JsonText.quoted(value);
    }
}
