package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Answers with a problem document (RFC 9457): 429 if a limit denied, 503 if no decision could be had. */
public final class ProblemRejectionHandler implements RateLimitRejectionHandler {

    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";

    @Override
    public void reject(HttpServletRequest request, HttpServletResponse response, Decision decision) throws IOException {
        boolean limited = decision.outcome().isDecided();
        Instant penalty = decision.penaltyUntil();
        String body = json(
                field("type", TYPES + type(limited, penalty != null)),
                field("title", title(limited, penalty != null)),
                "\"status\":" + (limited ? 429 : 503),
                field("detail", Sentences.detail(decision)),
                "\"violated-policies\":" + violated(decision),
                field("error", limited ? "Rate limit exceeded" : "Rate limit unavailable"),
                "\"retry_after\":" + decision.retryAfterSeconds(),
                "\"penalty_active\":" + (penalty != null),
                "\"penalty_until\":" + (penalty == null ? "null" : Long.toString(RateLimitHeaders.roundedUp(penalty))));
        response.setStatus(limited ? 429 : HttpServletResponse.SC_SERVICE_UNAVAILABLE);
        response.setHeader("Cache-Control", "no-store");
        response.setContentType("application/problem+json");
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }

    private static String type(boolean limited, boolean penalty) {
        return !limited ? "temporary-reduced-capacity" : penalty ? "abnormal-usage-detected" : "quota-exceeded";
    }

    private static String title(boolean limited, boolean penalty) {
        return !limited ? "Service temporarily unavailable" : penalty ? "Abnormal usage detected" : "Quota exceeded";
    }

    private static String violated(Decision decision) {
        List<String> names = new ArrayList<>();
        for (LimitDecision limit : decision.limits()) {
            if (!limit.allowed()) {
                names.add(quoted(limit.limit().name()));
            }
        }
        return "[" + String.join(",", names) + "]";
    }

    private static String json(String... fields) {
        return "{" + String.join(",", fields) + "}";
    }

    private static String field(String name, String value) {
        return quoted(name) + ":" + quoted(value);
    }

    /** All texts here are made of names of limits and words of ours, which have nothing to escape but these. */
    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
