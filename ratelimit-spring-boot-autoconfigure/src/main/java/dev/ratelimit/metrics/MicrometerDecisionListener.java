package dev.ratelimit.metrics;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.RequestRecord.Asked;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests. Never tagged by subject: their number is not bounded.
 *
 * <ul>
 *   <li>{@code ratelimit.requests} by limit, rule and outcome; {@code uncharged} if another limit denied the request,
 *       {@code would_allow} and {@code would_deny} for limits on trial ({@code NAME:shadow}, {@code NAME:candidate}); with
 *       the limit {@code none}: {@code blocked} by a rule or an account, {@code exempt} and {@code unknown_api_key}
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
    private static final String NO_LIMIT = "none";
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
    public void recorded(RequestRecord request) {
        for (Asked asked : request.asked()) {
            timer.record(asked.took());
            count(asked.request(), asked.decision());
        }
        if (isDecidedWithoutLimits(request)) {
            count(REQUESTS, REQUESTS_DESCRIPTION, tags(NO_LIMIT, request.rule(), written(request.outcome())));
        }
    }

    /** A request that a rule or an account blocked, that came with an unknown API key, or that is exempt. */
    private static boolean isDecidedWithoutLimits(RequestRecord request) {
        Outcome outcome = request.outcome();
        return outcome == Outcome.EXEMPT
                || outcome == Outcome.UNKNOWN_API_KEY
                || (outcome == Outcome.BLOCKED
                        && request.asked().stream()
                                .noneMatch(asked -> asked.decision().outcome() == Outcome.BLOCKED));
    }

    private void count(LimitRequest request, Decision decision) {
        if (decision.failure() != null) {
            count(
                    "ratelimit.store.errors",
                    "Requests that the store did not decide",
                    Tags.of("outcome", decision.local() ? DECIDED_LOCALLY : written(decision.outcome())));
        }
        if (decision.limits().size() < request.items().size()) {
            countUnasked(request, decision);
        }
        for (LimitDecision one : decision.limits()) {
            count(one.limit().name(), one.rule(), one.outcome(), decision);
            if (one.outcome() == Outcome.THROTTLED && one.penaltyUntil() != null) {
                count(
                        "ratelimit.penalties",
                        "Penalties that were begun",
                        Tags.of("limit", one.limit().name()));
            }
        }
    }

    /** Limits without an answer: nobody was asked, or another limit was known to deny. */
    private void countUnasked(LimitRequest request, Decision decision) {
        Outcome outcome = decision.limits().isEmpty() ? decision.outcome() : Outcome.ALLOWED;
        for (LimitRequest.Item item : request.items()) {
            if (decision.limits().stream()
                    .noneMatch(one -> one.limit().name().equals(item.limitName())
                            && one.subject().equals(item.subject()))) {
                count(item.limitName(), item.rule(), outcome, decision);
            }
        }
    }

    @Override
    public void trialDecided(LimitDecision decision, @Nullable String rule) {
        count(
                REQUESTS,
                REQUESTS_DESCRIPTION,
                tags(decision.limit().name(), rule, decision.allowed() ? "would_allow" : "would_deny"));
    }

    private static Tags tags(String limit, @Nullable String rule, String outcome) {
        return Tags.of("limit", limit, "rule", rule == null ? NO_RULE : rule, "outcome", outcome);
    }

    private void count(String limit, @Nullable String rule, Outcome outcome, Decision decision) {
        // A limit that had room in a request that another limit denied was not charged.
        boolean uncharged = outcome == Outcome.ALLOWED && !decision.allowed();
        count(REQUESTS, REQUESTS_DESCRIPTION, tags(limit, rule, uncharged ? UNCHARGED : written(outcome)));
        if (outcome == Outcome.THROTTLED) {
            count("ratelimit.violations", "Requests denied because a limit was used up", Tags.of("limit", limit));
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
