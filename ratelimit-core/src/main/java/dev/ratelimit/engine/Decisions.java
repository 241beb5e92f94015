package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.engine.lease.Leases;
import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes decisions of answers. */
final class Decisions {

    /** The decision for a request without limits. */
    static final Decision NOTHING_ASKED = new Decision(Outcome.ALLOWED, true, 0, List.of(), Duration.ZERO, null);

    private Decisions() {}

    /** The decision for a request that was served from a lease. */
    static Decision of(LimitRequest request, Demand demand, Leases.Served served) {
        LimitDecision limit = new LimitDecision(
                demand.subject(),
                demand.limit(),
                request.items().get(0).rule(),
                Outcome.ALLOWED,
                served.remaining(),
                served.verdict().resetAt(),
                Duration.ZERO,
                null,
                0,
                true);
        return Decision.of(served.clock(), List.of(limit), request.retryAfterFloor(), null);
    }

    /** The decision for a request that the store answered. */
    static Decision of(LimitRequest request, List<Demand> demands, Answer answer) {
        return of(request, demands, answer, null);
    }

    /**
     * The decision for a request that the store or this instance answered.
     *
     * @param failure why the store has not answered, or {@code null}
     */
    static Decision of(LimitRequest request, List<Demand> demands, Answer answer, @Nullable Throwable failure) {
        if (demands.size() == 1) {
            return of(request, demands.get(0), answer, failure);
        }
        List<LimitDecision> decisions = new ArrayList<>(demands.size());
        for (int i = 0; i < demands.size(); i++) {
            decisions.add(of(
                    demands.get(i),
                    request.items().get(i).rule(),
                    answer.verdicts().get(i),
                    answer.now()));
        }
        return Decision.of(answer.now(), decisions, request.retryAfterFloor(), failure);
    }

    /** The decision for a request on one limit. */
    static Decision of(LimitRequest request, Demand demand, Answer answer, @Nullable Throwable failure) {
        LimitDecision only = of(demand, request.items().get(0).rule(), answer.first(), answer.now());
        return Decision.of(answer.now(), List.of(only), request.retryAfterFloor(), failure);
    }

    /**
     * @param rule the name of the rule that brought the limit in, or {@code null}
     */
    static LimitDecision of(Demand demand, @Nullable String rule, Verdict verdict, long now) {
        long wait = verdict.allowed() ? verdict.delay() : verdict.availableAt() - now;
        return new LimitDecision(
                demand.subject(),
                demand.limit(),
                rule,
                verdict.outcome(),
                verdict.remaining(),
                verdict.resetAt(),
                wait == 0 ? Duration.ZERO : Micros.toDuration(wait),
                verdict.penaltyUntil() == 0 ? null : Micros.toInstant(verdict.penaltyUntil()),
                verdict.violations(),
                false);
    }

    /** The decision by failure policy open or closed. */
    static Decision undecided(LimitRequest request, FailurePolicy policy, UndecidedException e, long now) {
        boolean open = policy == FailurePolicy.OPEN;
        return new Decision(
                e.outcome(), open, now, List.of(), open ? Duration.ZERO : request.retryAfterFloor(), e.reason());
    }
}
