package dev.ratelimit.web.servlet;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.gate.Identity;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.support.Micros;
import dev.ratelimit.web.servlet.filter.ServletGate;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** Tells the caller of a request what remains. A bean for endpoints that show it; nothing is charged. */
public final class CallerLimits {

    private final ServletGate gate;
    private final InstantSource clock;

    public CallerLimits(ServletGate gate, InstantSource clock) {
        this.gate = gate;
        this.clock = clock;
    }

    /** The caller of the request. */
    public Caller caller(HttpServletRequest request) {
        return gate.visitOf(request).caller(gate.identityOf(request));
    }

    /** The subject that the caller counts as: the user, else the owner of the API key, else the address. */
    public Subject subject(HttpServletRequest request) {
        return gate.visitOf(request).subject(gate.identityOf(request));
    }

    /** The client's address, or the network of its IPv6 address, as limits by address count it. */
    public String client(HttpServletRequest request) {
        return gate.clientOf(request);
    }

    /** Whether no limit applies to the request. */
    public boolean isExempt(HttpServletRequest request) {
        Identity user = gate.identityOf(request);
        return gate.visitOf(request).isExempt(user);
    }

    /**
     * The decision if the caller of the request sent another one, of that method and path. An exempt caller is shown no limits,
     * and a blocked one neither.
     *
     * @param path within the application, such as {@code /api/campaigns}
     */
    public Decision peek(HttpServletRequest request, String method, String path) {
        Visit visit = gate.peek(request, method, PathReadings.of(path));
        Rejection rejection = visit.rejection();
        if (rejection != null && rejection.decision() == null) {
            return decision(rejection.outcome(), false, rejection.remaining());
        }
        List<LimitDecision> limits = new ArrayList<>();
        Decision last = null;
        for (Decision decision : visit.decisions()) {
            if (!decision.outcome().isDecided()) {
                if (rejection == null || decision.equals(rejection.decision())) {
                    return decision;
                }
                continue; // it let the request pass, and a later one rejects it
            }
            limits.addAll(decision.limits());
            last = decision;
        }
        if (last == null) {
            return decision(Outcome.ALLOWED, true, Duration.ZERO);
        }
        Decision all = Decision.of(last.atMicros(), limits, Duration.ZERO, last.failure());
        return rejection == null
                ? all
                : new Decision(rejection.outcome(), false, all.atMicros(), limits, all.retryAfter(), all.failure());
    }

    private Decision decision(Outcome outcome, boolean allowed, Duration wait) {
        return new Decision(outcome, allowed, Micros.of(clock.instant()), List.of(), wait, null);
    }
}
