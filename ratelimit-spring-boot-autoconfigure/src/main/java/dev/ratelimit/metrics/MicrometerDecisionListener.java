package dev.ratelimit.metrics;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;

/**
 * Reports decisions. Never tagged by subject: their number is not bounded.
 *
 * <ul>
 *   <li>{@code ratelimit.requests} by limit, rule and outcome
 *   <li>{@code ratelimit.violations} by limit: requests denied because it was used up
 *   <li>{@code ratelimit.penalties} by limit: penalties that were begun
 *   <li>{@code ratelimit.decision}: a timer, waiting included
 *   <li>{@code ratelimit.store.errors}: requests for which no decision could be had, by outcome
 * </ul>
 */
public final class MicrometerDecisionListener implements DecisionListener {

    private static final String NO_RULE = "none";

    private final MeterRegistry registry;
    private final Timer timer;

    public MicrometerDecisionListener(MeterRegistry registry) {
        this.registry = registry;
        this.timer = Timer.builder("ratelimit.decision")
                .description("The time that a decision takes, waiting included")
                .register(registry);
    }

    @Override
    public void decided(LimitRequest request, Decision decision, Duration took) {
        timer.record(took);
        if (!decision.outcome().isDecided()) {
            registry.counter("ratelimit.store.errors", "outcome", written(decision.outcome()))
                    .increment();
        }
        for (int i = 0; i < request.items().size(); i++) {
            LimitRequest.Item item = request.items().get(i);
            LimitDecision one = i < decision.limits().size() ? decision.limits().get(i) : null;
            Outcome outcome = one == null ? decision.outcome() : one.outcome();
            registry.counter(
                            "ratelimit.requests",
                            "limit",
                            item.limitName(),
                            "rule",
                            item.rule() == null ? NO_RULE : item.rule(),
                            "outcome",
                            written(outcome))
                    .increment();
            if (outcome == Outcome.THROTTLED) {
                registry.counter("ratelimit.violations", "limit", item.limitName())
                        .increment();
                if (one != null && one.penaltyUntil() != null) {
                    registry.counter("ratelimit.penalties", "limit", item.limitName())
                            .increment();
                }
            }
        }
    }

    private static String written(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT);
    }
}
