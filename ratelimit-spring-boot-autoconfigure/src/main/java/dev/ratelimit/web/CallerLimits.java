package dev.ratelimit.web;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Micros;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Caller;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.RequestFacts;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleMatch;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.http.server.PathContainer;

/** Tells the caller of a request what remains. A bean for endpoints that show it; nothing is charged. */
public final class CallerLimits {

    private final Policies policies;
    private final Callers callers;
    private final ClientAddresses addresses;
    private final SubjectKeys keys;
    private final RequestExpressions expressions;
    private final Exemptions exemptions;
    private final RateLimiter limiter;

    public CallerLimits(
            Policies policies,
            Callers callers,
            ClientAddresses addresses,
            SubjectKeys keys,
            RequestExpressions expressions,
            Exemptions exemptions,
            RateLimiter limiter) {
        this.policies = policies;
        this.callers = callers;
        this.addresses = addresses;
        this.keys = keys;
        this.expressions = expressions;
        this.exemptions = exemptions;
        this.limiter = limiter;
    }

    /** Who the request comes from. */
    public Caller caller(HttpServletRequest request) {
        return callers.callerOf(request);
    }

    /**
     * What the rules would say if the caller of the request sent another, of that method and path. No limit is named to a
     * caller who is exempt, and none to one who is blocked.
     *
     * @param path within the application, such as {@code /api/campaigns}
     */
    public Decision peek(HttpServletRequest request, String method, String path) {
        List<PathContainer> paths = List.of(PathContainer.parsePath(path));
        if (exemptions.exemptsUser(request) || exemptions.exemptsPathOrAddress(request, new RequestPath(path, paths))) {
            return limiter.peek(LimitRequest.NONE);
        }
        Policy policy = policies.current();
        Caller caller = callers.callerOf(request, policy.tiers());
        RuleMatch match = policy.rules()
                .match(new RequestFacts(
                        method,
                        false,
                        paths,
                        addresses.addressOf(request),
                        ApiKeyGate.keyOf(request),
                        caller,
                        rule -> expressions.isTrue(rule, request)));
        Duration blocked = callers.blockOf(request);
        Rule end = match.end();
        if (blocked != null || (end != null && end.action() == Action.BLOCK)) {
            Duration wait = blocked == null ? Duration.ZERO : blocked;
            return new Decision(Outcome.BLOCKED, false, Micros.of(Instant.now()), List.of(), wait, null);
        }
        return limiter.peek(keys.limitsOf(request, policy, match, caller));
    }
}
