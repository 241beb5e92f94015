package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Micros;
import dev.ratelimit.Outcome;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation.Demand;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes decisions of answers. */
final class Decisions {

    /** Of a request that asks for nothing. */
    static final Decision NOTHING_ASKED = new Decision(Outcome.ALLOWED, true, 0, List.of(), Duration.ZERO, null);

    private Decisions() {}

    /** Of a request that was served from a lease. */
    static Decision of(Demand demand, Leases.Served served) {
        LimitDecision limit = new LimitDecision(
                demand.subject(),
                demand.limit(),
                Outcome.ALLOWED,
                served.remaining(),
                served.verdict().resetAt(),
                Duration.ZERO,
                Duration.ZERO,
                null,
                true);
        return new Decision(Outcome.ALLOWED, true, served.clock(), List.of(limit), Duration.ZERO, null);
    }

    /** Of a request that the store has answered. */
    static Decision of(LimitRequest request, List<Demand> demands, Answer answer) {
        return of(request, demands, answer, null);
    }

    /**
     * Of a request that was answered, by the store or by this instance.
     *
     * @param failure why the store has not answered, or {@code null}
     */
    static Decision of(LimitRequest request, List<Demand> demands, Answer answer, @Nullable Throwable failure) {
        if (demands.size() == 1) {
            return of(request, demands.get(0), answer, failure);
        }
        List<LimitDecision> decisions = new ArrayList<>(demands.size());
        Outcome outcome = Outcome.ALLOWED;
        Duration retryAfter = Duration.ZERO;
        for (int i = 0; i < demands.size(); i++) {
            LimitDecision one = of(demands.get(i), answer.verdicts().get(i), answer.now());
            decisions.add(one);
            outcome = one.outcome().compareTo(outcome) > 0 ? one.outcome() : outcome;
            retryAfter = one.retryAfter().compareTo(retryAfter) > 0 ? one.retryAfter() : retryAfter;
        }
        boolean allowed = outcome == Outcome.ALLOWED;
        return new Decision(
                outcome,
                allowed,
                answer.now(),
                decisions,
                allowed ? Duration.ZERO : longer(retryAfter, request.retryAfterFloor()),
                failure);
    }

    /** Of a request on one limit. */
    static Decision of(LimitRequest request, Demand demand, Answer answer, @Nullable Throwable failure) {
        LimitDecision only = of(demand, answer.first(), answer.now());
        return new Decision(
                only.outcome(),
                only.allowed(),
                answer.now(),
                List.of(only),
                only.allowed() ? Duration.ZERO : longer(only.retryAfter(), request.retryAfterFloor()),
                failure);
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? other : one;
    }

    static LimitDecision of(Demand demand, Verdict verdict, long now) {
        return new LimitDecision(
                demand.subject(),
                demand.limit(),
                verdict.outcome(),
                verdict.remaining(),
                verdict.resetAt(),
                verdict.allowed() ? Duration.ZERO : Micros.toDuration(verdict.availableAt() - now),
                verdict.delay() == 0 ? Duration.ZERO : Micros.toDuration(verdict.delay()),
                verdict.penaltyUntil() == 0 ? null : Micros.toInstant(verdict.penaltyUntil()));
    }

    /** Of a request that nobody has decided: the policy is open or closed. */
    static Decision undecided(LimitRequest request, UndecidedException e) {
        boolean open = request.onFailure() == FailurePolicy.OPEN;
        return new Decision(
                e.outcome(),
                open,
                Micros.of(Instant.now()),
                List.of(),
                open ? Duration.ZERO : request.retryAfterFloor(),
                e.reason());
    }
}
