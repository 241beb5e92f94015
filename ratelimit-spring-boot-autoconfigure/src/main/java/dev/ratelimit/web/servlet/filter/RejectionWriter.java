package dev.ratelimit.web.servlet.filter;

import dev.ratelimit.Decision;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.web.ApiKeySource;
import dev.ratelimit.web.RateLimitHeaders;
import dev.ratelimit.web.servlet.RateLimitRejectionHandler;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests that the filters or a method with {@code @RateLimited} rejected.
 *
 * @param headers the headers of every decision
 * @param handler writes the body
 * @param apiKeys where API keys are read from, or {@code null} if they are not
 */
public record RejectionWriter(
        RateLimitHeaders headers,
        RateLimitRejectionHandler handler,
        @Nullable ApiKeySource apiKeys) {

    private static final Set<String> OF_THE_BODY = Set.of("content-type", "content-length");

    /** Answers a request that was rejected before it reached a method. The headers of the decision are set already. */
    public void write(HttpServletRequest request, HttpServletResponse response, Rejection rejection)
            throws IOException {
        if (rejection.reason() == Rejection.Reason.UNKNOWN_API_KEY && apiKeys != null) {
            response.setHeader("WWW-Authenticate", apiKeys.challenge());
        }
        if (rejection.retryAfterSeconds() > 0) {
            response.setHeader("Retry-After", Long.toString(rejection.retryAfterSeconds()));
        }
        handler.reject(request, response, rejection);
    }

    /** Answers a request in which a limited method was denied. */
    void write(HttpServletRequest request, HttpServletResponse response, RateLimitExceededException exceeded)
            throws IOException {
        startOver(response);
        List<Decision> decisions = new ArrayList<>();
        ServletVisit visit = ServletVisit.of(request);
        if (visit != null) {
            visit.visit.denied(exceeded.decision());
            decisions.addAll(visit.visit.decisions());
        }
        decisions.add(exceeded.decision());
        headers.write(decisions, response::setHeader);
        write(request, response, Rejection.of(exceeded.decision()));
    }

    /**
     * Forgets what was written, and whether it was by a stream or a writer: the method may have been called for an argument of
     * {@code response.getWriter().print(…)}. The headers stay.
     */
    private static void startOver(HttpServletResponse response) {
        Map<String, List<String>> headers = new LinkedHashMap<>();
        for (String name : response.getHeaderNames()) {
            if (!OF_THE_BODY.contains(name.toLowerCase(Locale.ROOT))) {
                headers.put(name, List.copyOf(response.getHeaders(name)));
            }
        }
        response.reset();
        headers.forEach((name, values) -> values.forEach(value -> response.addHeader(name, value)));
    }
}
