package dev.ratelimit.engine;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.engine.queue.WorkQueue;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.LogText;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Trials: limits of rules in shadow, and the candidates of limits. The workers decide them after the request they
 * belong to, each on its own; listeners are told, and no caller waits. A trial is skipped if the queue is full or the
 * store is down: the report has a gap, the request no delay.
 */
final class Trials {

    private static final Logger log = LoggerFactory.getLogger(Trials.class);

    private final WorkQueue queue;
    private final Listeners<DecisionListener> listeners;
    private final Charges none = new Charges(List.of());

    Trials(WorkQueue queue, Listeners<DecisionListener> listeners) {
        this.queue = queue;
        this.listeners = listeners;
    }

    /** The present and future charges of trials, settled like the request itself. */
    final class Charges {

        private record TrialCharge(Demand demand, CompletableFuture<Answer> answer) {}

        private final List<TrialCharge> charges;

        private Charges(List<TrialCharge> charges) {
            this.charges = charges;
        }

        void settle(long cost) {
            settle(cost, Verdict::charge);
        }

        /** As if the request had never come: see {@link dev.ratelimit.Charged#giveBack()}. */
        void giveBack() {
            settle(0, verdict -> verdict.charge().withInterval());
        }

        private void settle(long cost, Function<Verdict, Charge> charged) {
            for (TrialCharge one : charges) {
                var unused = one.answer.thenAccept(answer -> settle(one.demand, answer.first(), cost, charged));
            }
        }

        private void settle(Demand demand, Verdict verdict, long cost, Function<Verdict, Charge> charged) {
            long settled = Math.min(cost, demand.limit().capacity());
            if (verdict.allowed() && demand.cost() != settled) {
                submit(
                        new Operation(
                                Kind.SETTLE,
                                List.of(new Demand(demand.subject(), demand.limit(), settled, charged.apply(verdict)))),
                        answer -> {});
            }
        }
    }

    /**
     * Decides the trials of a request, and the candidates of its limits. Most requests have none.
     *
     * @param asked the limits of the request's items
     */
    Charges decide(LimitRequest request, List<Limit> asked) {
        if (request.trials().isEmpty() && !hasTrial(asked)) {
            return none;
        }
        List<Charges.TrialCharge> charges = new ArrayList<>();
        for (LimitRequest.Item item : request.trials()) {
            Limit limit = item.limit();
            if (limit != null) {
                charges.add(decide(new Demand(item.subject(), limit, limit.cost()), item.rule()));
            }
        }
        for (int i = 0; i < asked.size(); i++) {
            Limit trial = asked.get(i).trial();
            if (trial != null) {
                LimitRequest.Item item = request.items().get(i);
                long cost = item.cost() != null ? item.cost() : trial.cost();
                charges.add(decide(new Demand(item.subject(), trial, Math.min(cost, trial.capacity())), item.rule()));
            }
        }
        return new Charges(charges);
    }

    /** The same for a request on one limit. */
    void decideBeside(LimitRequest request, Demand demand) {
        if (demand.limit().trial() != null || !request.trials().isEmpty()) {
            decide(request, List.of(demand.limit()));
        }
    }

    private static boolean hasTrial(List<Limit> asked) {
        for (int i = 0; i < asked.size(); i++) {
            if (asked.get(i).trial() != null) {
                return true;
            }
        }
        return false;
    }

    private Charges.TrialCharge decide(Demand demand, @Nullable String rule) {
        CompletableFuture<Answer> answered = new CompletableFuture<>();
        submit(new Operation(Kind.DECIDE, List.of(demand)), answer -> {
            LimitDecision decision = Decisions.of(demand, rule, answer.first(), answer.now());
            listeners.tell(listener -> listener.trialDecided(decision));
            answered.complete(answer);
        });
        return new Charges.TrialCharge(demand, answered);
    }

    /** Resets the trials of the limits for the same subjects. */
    void reset(List<Demand> asked) {
        for (Demand demand : asked) {
            Limit trial = demand.limit().trial();
            if (trial != null) {
                submit(
                        new Operation(Kind.RESET, List.of(new Demand(demand.subject(), trial, trial.cost()))),
                        answer -> {});
            }
        }
    }

    private void submit(Operation operation, Consumer<Answer> done) {
        var unused = queue.ask(operation).whenComplete((answer, failure) -> {
            if (failure == null) {
                done.accept(answer);
            } else {
                log.debug("Skipping a trial: {}", LogText.of(failure.getMessage()));
            }
        });
    }
}
