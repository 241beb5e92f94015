package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.ApiKeys;
import dev.ratelimit.policy.Response;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the API key of a request.
 *
 * <ol>
 *   <li>A request without a key passes, as nobody's.
 *   <li>A key that is recognised is kept with the request.
 *   <li>Any other is a guess: 401, and once an address has guessed too often, 429. From then on its keys are no longer
 *       looked at for that time, so that the answer does not tell a right one from a wrong one.
 * </ol>
 */
public final class ApiKeyGate {

    private static final String KEY = ApiKeyGate.class.getName() + ".KEY";
    private static final String CHECKED = ApiKeyGate.class.getName() + ".CHECKED";
    private static final String BEARER = "Bearer ";
    private static final String GUESSES = "api-key-guesses";
    private static final int MOST_GUESSERS = 10_000;

    /** Where a key is read from. */
    public record Source(String header, boolean bearer) {}

    private final Source source;
    private final ApiKeys keys;
    private final RateLimiter limiter;
    private final Limit guesses;
    private final SubjectKeys subjects;
    private final Map<Subject, Guessing> guessers = Collections.synchronizedMap(new LinkedHashMap<>() {

        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Subject, Guessing> eldest) {
            return size() > MOST_GUESSERS;
        }
    });

    /** @param until when the address may try again, on the clock of {@link System#nanoTime()} */
    private record Guessing(long until, Decision denied) {}

    /**
     * @param guesses how many unknown keys an address may try in a minute
     */
    public ApiKeyGate(Source source, ApiKeys keys, RateLimiter limiter, long guesses, SubjectKeys subjects) {
        this.source = source;
        this.keys = keys;
        this.limiter = limiter;
        this.guesses = ApiKeys.guessing(GUESSES, guesses);
        this.subjects = subjects;
    }

    /** The key that the request came with, if it was recognised. */
    static @Nullable ApiKey keyOf(HttpServletRequest request) {
        return (ApiKey) request.getAttribute(KEY);
    }

    /** Whether keys are looked up, so that a request without one that was recognised has none. */
    static boolean hasChecked(HttpServletRequest request) {
        return request.getAttribute(CHECKED) != null;
    }

    /** Reads the key; what it gives is why the request may not pass. */
    @Nullable
    Rejection check(HttpServletRequest request, HttpServletResponse response) {
        request.setAttribute(CHECKED, true);
        String secret = secretOf(request);
        if (secret == null) {
            return null;
        }
        Guessing guessing = guessers.isEmpty() ? null : find(subjects.address(request));
        if (guessing != null) {
            return new Rejection(
                    Rejection.Reason.LIMITED,
                    guessing.denied,
                    Response.USUAL,
                    Duration.ofNanos(guessing.until - System.nanoTime()));
        }
        ApiKey key = keys.recognise(secret);
        if (key != null) {
            request.setAttribute(KEY, key);
            return null;
        }
        Subject address = subjects.address(request);
        Decision decision = limiter.decide(address, guesses);
        if (decision.outcome().isDecided() && !decision.allowed()) {
            remember(address, decision);
            return Rejection.of(decision);
        }
        response.setHeader(
                "WWW-Authenticate",
                source.bearer() ? "Bearer error=\"invalid_token\"" : "ApiKey header=\"" + source.header() + "\"");
        return Rejection.unknownApiKey();
    }

    private @Nullable String secretOf(HttpServletRequest request) {
        String sent = request.getHeader(source.header());
        if (sent == null && source.bearer()) {
            String authorization = request.getHeader("Authorization");
            sent = authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
                    ? authorization.substring(BEARER.length())
                    : null;
        }
        return sent == null || sent.isBlank() ? null : sent.strip();
    }

    private @Nullable Guessing find(Subject address) {
        Guessing guessing = guessers.get(address);
        if (guessing != null && guessing.until - System.nanoTime() <= 0) {
            guessers.remove(address, guessing);
            return null;
        }
        return guessing;
    }

    private void remember(Subject address, Decision denied) {
        guessers.put(
                address, new Guessing(System.nanoTime() + denied.retryAfter().toNanos(), denied));
    }
}
