package dev.ratelimit.web.servlet.filter;

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
import dev.ratelimit.web.servlet.CallerLimits;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** Reads what remains from a walk of the gate that charges nothing. */
public final class GateCallerLimits implements CallerLimits {

    private final ServletGate gate;
    private final InstantSource clock;

    public GateCallerLimits(ServletGate gate, InstantSource clock) {
        this.gate = gate;
        this.clock = clock;
    }

    @Override
    public Caller caller(HttpServletRequest request) {
        return gate.visitOf(request).caller(gate.identityOf(request));
    }

    @Override
    public Subject subject(HttpServletRequest request) {
        return gate.visitOf(request).subject(gate.identityOf(request));
    }

    @Override
    public String client(HttpServletRequest request) {
        return gate.clientOf(request);
    }

    @Override
    public boolean isExempt(HttpServletRequest request) {
        Identity user = gate.identityOf(request);
        return gate.visitOf(request).isExempt(user);
    }

    @Override
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
