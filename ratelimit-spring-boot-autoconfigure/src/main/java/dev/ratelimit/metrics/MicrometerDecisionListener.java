package dev.ratelimit.metrics;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reports decisions. Never tagged by subject: their number is not bounded.
 *
 * <ul>
 *   <li>{@code ratelimit.requests} by limit, rule and outcome; {@code uncharged} if another limit denied the request,
 *       {@code would_allow} and {@code would_deny} for limits that are only tried ({@code NAME:shadow},
 *       {@code NAME:candidate})
 *   <li>{@code ratelimit.violations} by limit: requests denied because it was used up
 *   <li>{@code ratelimit.penalties} by limit: penalties that were begun
 *   <li>{@code ratelimit.decision}: a timer, waiting included
 *   <li>{@code ratelimit.store.errors}: requests that the store did not decide, by outcome: {@code decided_locally},
 *       {@code failed} or {@code overloaded}
 * </ul>
 */
public final class MicrometerDecisionListener implements DecisionListener {

    private static final String REQUESTS = "ratelimit.requests";
    private static final String REQUESTS_DESCRIPTION = "Requests that a limit was asked for";
    private static final String NO_RULE = "none";
    private static final String DECIDED_LOCALLY = "decided_locally";
    private static final String UNCHARGED = "uncharged";

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
        if (decision.failure() != null) {
            count(
                    "ratelimit.store.errors",
                    "Requests that the store did not decide",
                    Tags.of("outcome", decision.local() ? DECIDED_LOCALLY : written(decision.outcome())));
        }
        for (LimitRequest.Item item : request.items()) {
            LimitDecision one = of(item, decision);
            // A limit that was not asked, since another was known to deny, was not charged either.
            Outcome unasked = decision.limits().isEmpty() ? decision.outcome() : Outcome.ALLOWED;
            count(item, one == null ? unasked : one.outcome(), decision);
            if (one != null && one.outcome() == Outcome.THROTTLED && one.penaltyUntil() != null) {
                count(
                        "ratelimit.penalties",
                        "Penalties that were begun",
                        Tags.of("limit", one.limit().name()));
            }
        }
    }

    @Override
    public void tried(LimitDecision decision, @Nullable String rule) {
        count(
                REQUESTS,
                REQUESTS_DESCRIPTION,
                Tags.of(
                        "limit",
                        decision.limit().name(),
                        "rule",
                        rule == null ? NO_RULE : rule,
                        "outcome",
                        decision.allowed() ? "would_allow" : "would_deny"));
    }

    private static @Nullable LimitDecision of(LimitRequest.Item item, Decision decision) {
        for (LimitDecision one : decision.limits()) {
            if (one.limit().name().equals(item.limitName()) && one.subject().equals(item.subject())) {
                return one;
            }
        }
        return null;
    }

    private void count(LimitRequest.Item item, Outcome outcome, Decision decision) {
        // A limit that had room in a request that another limit denied was not charged.
        boolean uncharged = outcome == Outcome.ALLOWED && !decision.allowed();
        String rule = item.rule() == null ? NO_RULE : item.rule();
        count(
                REQUESTS,
                REQUESTS_DESCRIPTION,
                Tags.of("limit", item.limitName(), "rule", rule, "outcome", uncharged ? UNCHARGED : written(outcome)));
        if (outcome == Outcome.THROTTLED) {
            count(
                    "ratelimit.violations",
                    "Requests denied because a limit was used up",
                    Tags.of("limit", item.limitName()));
        }
    }

    private void count(String name, String description, Tags tags) {
        Counter.builder(name)
                .description(description)
                .tags(tags)
                .register(registry)
                .increment();
    }

    private static String written(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT);
    }
}
