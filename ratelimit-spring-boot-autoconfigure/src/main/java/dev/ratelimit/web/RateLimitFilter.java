package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Caller;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.RequestFacts;
import dev.ratelimit.policy.Response;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleMatch;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Decides the rules of a request, once, however often it is dispatched. There are two of these filters: one before
 * authentication, for what every request has, and one after it, for what needs to know the user.
 *
 * <ol>
 *   <li>Before authentication: an API key that is not known is refused. The rules are walked as far as possible (see
 *       {@link dev.ratelimit.policy.RuleBook}); the path is parsed as Spring MVC parses it.
 *   <li>After authentication: a user who is blocked is refused. The rules that were left open are walked.
 *   <li>In both: each rule says whose count it is; all limits of these rules are decided together, all-or-nothing; the
 *       headers are written, and the request passes or is answered.
 * </ol>
 */
public final class RateLimitFilter extends OncePerRequestFilter {

    /** When a filter decides. */
    public enum Phase {
        BEFORE_AUTHENTICATION,
        AFTER_AUTHENTICATION
    }

    /**
     * What both filters work with.
     *
     * @param apiKeys reads API keys, or {@code null} if the application has none of ours
     */
    public record Parts(
            Policies policies,
            ClientAddresses addresses,
            SubjectKeys keys,
            RequestExpressions expressions,
            Callers callers,
            @Nullable ApiKeyGate apiKeys,
            RateLimiter limiter,
            Exemptions exemptions,
            RateLimitHeaders headers,
            RateLimitRejectionHandler rejection) {

        /** Finds mistakes in the rules of the configuration that show only here. */
        public Parts {
            for (Rule rule : policies.current().rules().rules()) {
                keys.require(rule);
                String expression = rule.conditions().expression();
                if (expression != null) {
                    expressions.require(rule, "condition", expression);
                }
            }
        }
    }

    private static final String WALK = RateLimitFilter.class.getName() + ".WALK";
    private static final String EXEMPT = RateLimitFilter.class.getName() + ".EXEMPT";

    /** What the first filter leaves to the second. */
    private record Walk(RequestPath path, Policy policy, RequestFacts facts, RuleMatch match) {

        /** Unless a filter between the two has replaced the path or the method. */
        private boolean isOf(HttpServletRequest request, RequestPath current) {
            return path.equals(current) && facts.method().equals(request.getMethod());
        }
    }

    private final Phase phase;
    private final Parts parts;

    public RateLimitFilter(Phase phase, Parts parts) {
        this.phase = phase;
        this.parts = parts;
    }

    /** Both filters must run, so each remembers under a name of its own that it did. */
    @Override
    protected String getAlreadyFilteredAttributeName() {
        return RateLimitFilter.class.getName() + "." + phase;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        Rejection rejection;
        try {
            rejection = phase == Phase.BEFORE_AUTHENTICATION
                    ? beforeAuthentication(request, response)
                    : afterAuthentication(request, response);
        } catch (RequestPath.UnreadableException e) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST);
            return;
        }
        if (rejection == null) {
            pass(request, response, chain);
        } else {
            reject(request, response, rejection);
        }
    }

    private @Nullable Rejection beforeAuthentication(HttpServletRequest request, HttpServletResponse response)
            throws IOException, RequestPath.UnreadableException {
        RequestPath path = RequestPath.of(request);
        if (parts.exemptions().exemptsPathOrAddress(request, path)) {
            request.setAttribute(EXEMPT, true);
            return null;
        }
        Rejection unknown = parts.apiKeys() == null ? null : parts.apiKeys().check(request, response);
        if (unknown != null) {
            return unknown;
        }
        Walk walk = begin(request, path);
        request.setAttribute(WALK, walk);
        return decide(request, response, walk.policy, walk.match, null);
    }

    private @Nullable Rejection afterAuthentication(HttpServletRequest request, HttpServletResponse response)
            throws IOException, RequestPath.UnreadableException {
        if (request.getAttribute(EXEMPT) != null || parts.exemptions().exemptsUser(request)) {
            return null;
        }
        RequestPath path = RequestPath.of(request);
        Walk walk = request.getAttribute(WALK) instanceof Walk begun && begun.isOf(request, path)
                ? begun
                : begin(request, path);
        Duration blocked = parts.callers().blockOf(request);
        if (blocked != null) {
            return Rejection.blocked(Response.USUAL, blocked);
        }
        if (!walk.match.isOpen()) {
            return null;
        }
        Caller caller = parts.callers().callerOf(request, walk.policy.tiers());
        RuleMatch rest = walk.policy.rules().resume(walk.match, walk.facts.with(caller));
        return decide(request, response, walk.policy, rest, caller);
    }

    private Walk begin(HttpServletRequest request, RequestPath path) {
        Policy policy = parts.policies().current();
        RequestFacts facts = new RequestFacts(
                request.getMethod(),
                CorsUtils.isPreFlightRequest(request),
                path.readings(),
                parts.addresses().addressOf(request),
                ApiKeyGate.keyOf(request),
                null,
                rule -> parts.expressions().isTrue(rule, request));
        return new Walk(path, policy, facts, policy.rules().match(facts));
    }

    private @Nullable Rejection decide(
            HttpServletRequest request,
            HttpServletResponse response,
            Policy policy,
            RuleMatch match,
            @Nullable Caller caller)
            throws IOException {
        Rule end = match.end();
        if (end != null && end.action() == Action.BLOCK) {
            return Rejection.blocked(end.response(), Duration.ZERO);
        }
        LimitRequest limits = parts.keys().limitsOf(request, policy, match, caller);
        if (limits == LimitRequest.NONE) {
            return null;
        }
        Decision decision = parts.limiter().decide(limits);
        parts.headers().write(request, response, decision);
        if (!decision.allowed()) {
            return Rejection.of(decision, responseOf(match, limits, decision));
        }
        awaitTurn(decision);
        return null;
    }

    /** As the rule wants it that brought in the limit with the longest wait. */
    private static Response responseOf(RuleMatch match, LimitRequest limits, Decision decision) {
        LimitDecision denied = decision.tightest();
        for (LimitRequest.Item item : limits.items()) {
            if (denied != null
                    && item.limitName().equals(denied.limit().name())
                    && item.subject().equals(denied.subject())) {
                for (Rule rule : match.rules()) {
                    if (rule.name().equals(item.rule())) {
                        return rule.response();
                    }
                }
            }
        }
        return Response.USUAL;
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
        reject(request, response, Rejection.of(exceeded.decision()));
    }

    private void reject(HttpServletRequest request, HttpServletResponse response, Rejection rejection)
            throws IOException {
        if (rejection.retryAfterSeconds() > 0) {
            response.setHeader("Retry-After", Long.toString(rejection.retryAfterSeconds()));
        }
        parts.rejection().reject(request, response, rejection);
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
