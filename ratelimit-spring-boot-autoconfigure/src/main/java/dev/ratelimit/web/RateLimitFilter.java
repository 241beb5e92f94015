package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.rule.Rule;
import dev.ratelimit.rule.RuleBook;
import dev.ratelimit.web.SubjectKeys.CompiledKey;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Decides the rules of a request, once, however often it is dispatched. There are two of these filters: one before
 * authentication, for rules keyed by what every request has, and one after it, for those that need to know the user.
 *
 * <ol>
 *   <li>The rules whose path and method match are found; the path is read as Spring MVC reads it.
 *   <li>Each rule says whose count it is.
 *   <li>All limits of these rules are decided together, all-or-nothing.
 *   <li>The headers are written, and the request passes or is answered.
 * </ol>
 */
public final class RateLimitFilter extends OncePerRequestFilter {

    /** When a filter decides. */
    public enum Phase {
        BEFORE_AUTHENTICATION,
        AFTER_AUTHENTICATION
    }

    /** What both filters work with. */
    public record Parts(
            RuleBook rules,
            SubjectKeys keys,
            RateLimiter limiter,
            Exemptions exemptions,
            RateLimitHeaders headers,
            RateLimitRejectionHandler rejection) {}

    private static final String MATCHED = RateLimitFilter.class.getName() + ".MATCHED";

    private final Phase phase;
    private final Parts parts;
    private final Map<String, CompiledKey> keys = new HashMap<>();

    public RateLimitFilter(Phase phase, Parts parts) {
        this.phase = phase;
        this.parts = parts;
        for (Rule rule : parts.rules().rules()) {
            keys.put(rule.name(), parts.keys().compile(rule.name(), rule.key()));
        }
    }

    /** Both filters must run, so each remembers under a name of its own that it did. */
    @Override
    protected String getAlreadyFilteredAttributeName() {
        return RateLimitFilter.class.getName() + "." + phase;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        LimitRequest limits;
        try {
            limits = limitsOf(request);
        } catch (RequestPath.UnreadableException e) {
            // As Spring MVC would.
            response.sendError(HttpServletResponse.SC_BAD_REQUEST);
            return;
        }
        if (limits == null) {
            pass(request, response, chain);
            return;
        }
        Decision decision = parts.limiter().decide(limits);
        parts.headers().write(request, response, decision);
        if (decision.allowed()) {
            awaitTurn(decision);
            pass(request, response, chain);
        } else {
            parts.rejection().reject(request, response, decision);
        }
    }

    private void pass(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        if (phase == Phase.AFTER_AUTHENTICATION) {
            chain.doFilter(request, response);
            return;
        }
        // The outer of the two: what Spring Security makes of an exception has been written when the chain returns
        // here.
        AfterResponse afterResponse = AfterResponse.of(request);
        boolean failed = true;
        try {
            chain.doFilter(request, response);
            failed = false;
        } catch (RateLimitExceededException e) {
            reject(request, response, e);
            failed = false;
        } catch (ServletException e) {
            if (!(e.getRootCause() instanceof RateLimitExceededException exceeded)) {
                throw e;
            }
            reject(request, response, exceeded);
            failed = false;
        } finally {
            afterResponse.chainReturned(request, response, failed);
        }
    }

    /** A limited method was called outside of Spring MVC, which would have answered itself. */
    private void reject(HttpServletRequest request, HttpServletResponse response, RateLimitExceededException exceeded)
            throws IOException {
        if (response.isCommitted()) {
            throw exceeded;
        }
        response.resetBuffer();
        parts.headers().write(request, response, exceeded.decision());
        parts.rejection().reject(request, response, exceeded.decision());
    }

    private @Nullable LimitRequest limitsOf(HttpServletRequest request) throws RequestPath.UnreadableException {
        RequestPath path = RequestPath.of(request);
        List<Rule> matching = rulesOf(request, path);
        if (matching.isEmpty() || parts.exemptions().exemptsPathOrAddress(request, path)) {
            return null;
        }
        if (phase == Phase.AFTER_AUTHENTICATION && parts.exemptions().exemptsUser(request)) {
            return null;
        }
        LimitRequest limits = null;
        Set<String> asked = new HashSet<>();
        for (Rule rule : matching) {
            CompiledKey key = Objects.requireNonNull(keys.get(rule.name()));
            if (key.needsUser() == (phase == Phase.AFTER_AUTHENTICATION)) {
                limits =
                        with(limits, rule, Objects.requireNonNull(key.resolver().resolve(request)), asked);
            }
        }
        return limits;
    }

    /** Found by the first filter, for both: unless one between them has replaced the path or the method. */
    private record Matched(RequestPath path, String method, List<Rule> rules) {}

    private List<Rule> rulesOf(HttpServletRequest request, RequestPath path) {
        String method = request.getMethod();
        if (request.getAttribute(MATCHED) instanceof Matched known
                && known.path.equals(path)
                && known.method.equals(method)) {
            return known.rules;
        }
        List<Rule> rules = parts.rules().match(method, path.readings());
        if (CorsUtils.isPreFlightRequest(request)) {
            // A browser asks this by itself, and no page could read a refusal.
            rules = rules.stream().filter(rule -> !rule.methods().isEmpty()).toList();
        }
        request.setAttribute(MATCHED, new Matched(path, method, rules));
        return rules;
    }

    /** A limit that two rules name for the same subject is asked once, for the rule of higher priority. */
    private static @Nullable LimitRequest with(
            @Nullable LimitRequest limits, Rule rule, Subject subject, Set<String> asked) {
        LimitRequest all = limits;
        for (String limit : rule.limits()) {
            if (asked.add(subject + " " + limit)) {
                all = (all == null ? LimitRequest.of(subject, limit) : all.and(subject, limit)).rule(rule.name());
                if (rule.onFailure() == FailurePolicy.CLOSED) {
                    all = all.onFailure(FailurePolicy.CLOSED);
                }
            }
        }
        return all;
    }

    private static void awaitTurn(Decision decision) throws InterruptedIOException {
        try {
            decision.awaitTurn();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a request waited for its turn");
        }
    }
}
