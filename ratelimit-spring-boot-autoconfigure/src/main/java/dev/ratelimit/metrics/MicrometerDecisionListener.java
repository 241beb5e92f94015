package dev.ratelimit.metrics;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.RequestRecord.Asked;
import dev.ratelimit.audit.report.AuditDecision;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests. Never tagged by subject: their number is not bounded.
 *
 * <ul>
 *   <li>{@code ratelimit.requests} by limit, rule and outcome, as the audit trail writes it; {@code uncharged} if another limit denied the request,
 *       {@code would_allow} and {@code would_deny} for limits on trial ({@code NAME:shadow}, {@code NAME:candidate}); with
 *       the limit {@code none}: {@code blocked} by a rule or an account, {@code exempt} and {@code unknown_api_key}
 *   <li>{@code ratelimit.violations} by limit: requests denied because it was used up
 *   <li>{@code ratelimit.penalties} by limit: penalties that were begun
 *   <li>{@code ratelimit.near.limit} by limit: allowed requests that left little of it
 *   <li>{@code ratelimit.decision}: a timer, waiting included
 *   <li>{@code ratelimit.store.errors}: requests that the store did not decide, by outcome: {@code decided_locally},
 *       {@code failed} or {@code overloaded}
 * </ul>
 */
public final class MicrometerDecisionListener implements DecisionListener {

    private static final String REQUESTS = "ratelimit.requests";
    private static final String LIMIT = "limit";
    private static final String NO_RULE = "none";
    private static final String NO_LIMIT = "none";
    private static final String DECIDED_LOCALLY = "decided_locally";
    private static final String UNCHARGED = "uncharged";

    private final MeterRegistry registry;
    private final int nearLimitPercent;
    private final Timer timer;

    /** To look a meter up in the registry takes longer than the rest of a request in memory. */
    private final Map<Key, Counter> counters = new ConcurrentHashMap<>();

    /** The name of a counter and the values of its tags. */
    private record Key(
            String name,
            String first,
            @Nullable String second,
            @Nullable String third) {}

    /**
     * @param nearLimitPercent an allowed request that leaves less than this share of a limit is near it
     */
    public MicrometerDecisionListener(MeterRegistry registry, int nearLimitPercent) {
        this.registry = registry;
        this.nearLimitPercent = nearLimitPercent;
        this.timer = Timer.builder("ratelimit.decision")
                .description("The time that a decision takes, waiting included")
                .register(registry);
        // From zero on, so that Prometheus sees the first one as an increase.
        for (String outcome : List.of(DECIDED_LOCALLY, Outcome.FAILED.keyword(), Outcome.OVERLOADED.keyword())) {
            errors(outcome);
        }
    }

    @Override
    public void recorded(RequestRecord request) {
        for (Asked asked : request.asked()) {
            timer.record(asked.took());
            count(asked);
        }
        if (isDecidedWithoutLimits(request)) {
            // An exempt request may have a rule, too, if it was charged on arrival: it did not decide.
            countRequest(
                    NO_LIMIT,
                    request.allowed() ? null : request.rule(),
                    request.outcome().keyword());
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

    private void count(Asked asked) {
        Decision decision = asked.decision();
        if (decision.failure() != null) {
            errors(decision.local() ? DECIDED_LOCALLY : decision.outcome().keyword())
                    .increment();
        }
        if (decision.limits().size() < asked.request().items().size()) {
            countUnasked(asked);
        }
        for (LimitDecision one : decision.limits()) {
            count(one.limit().name(), one.rule(), one.outcome(), asked);
            if (asked.isCharged() && isNear(one)) {
                count(
                        "ratelimit.near.limit",
                        "Allowed requests that left little of a limit",
                        LIMIT,
                        one.limit().name());
            }
            if (one.outcome() == Outcome.THROTTLED && one.penaltyUntil() != null) {
                count(
                        "ratelimit.penalties",
                        "Penalties that were begun",
                        LIMIT,
                        one.limit().name());
            }
        }
    }

    private Counter errors(String outcome) {
        return counter("ratelimit.store.errors", "Requests that the store did not decide", "outcome", outcome);
    }

    /** Limits without an answer: the store was unavailable, or another limit was known to deny. */
    private void countUnasked(Asked asked) {
        Decision decision = asked.decision();
        if (decision.outcome() == Outcome.ALLOWED) {
            return; // they are switched off
        }
        Outcome outcome = decision.limits().isEmpty() ? decision.outcome() : Outcome.ALLOWED;
        for (LimitRequest.Item item : asked.request().items()) {
            if (decision.limits().stream().noneMatch(one -> one.isOf(item.subject(), item.limitName()))) {
                count(item.limitName(), item.rule(), outcome, asked);
            }
        }
    }

    private boolean isNear(LimitDecision decision) {
        return decision.remaining() < decision.limit().capacity() * (nearLimitPercent / 100.0);
    }

    @Override
    public void trialDecided(LimitDecision decision) {
        countRequest(decision.limit().name(), decision.rule(), decision.allowed() ? "would_allow" : "would_deny");
    }

    private void count(String limit, @Nullable String rule, Outcome outcome, Asked asked) {
        // A limit that had room in a request that another limit denied was not charged, or was given its charge back.
        boolean uncharged = outcome == Outcome.ALLOWED && !asked.isCharged();
        countRequest(
                limit,
                rule,
                uncharged
                        ? UNCHARGED
                        : AuditDecision.of(outcome, asked.decision().allowed()).keyword());
        if (outcome == Outcome.THROTTLED) {
            count("ratelimit.violations", "Requests denied because a limit was used up", LIMIT, limit);
        }
    }

    private void countRequest(String limit, @Nullable String rule, String outcome) {
        Key key = new Key(REQUESTS, limit, rule, outcome);
        Counter known = counters.get(key);
        if (known == null) {
            known = counters.computeIfAbsent(
                    key,
                    made -> counter(
                            REQUESTS,
                            "Requests that a limit was asked for",
                            Tags.of(LIMIT, limit, "rule", rule == null ? NO_RULE : rule, "outcome", outcome)));
        }
        known.increment();
    }

    private void count(String name, String description, String tag, String value) {
        counter(name, description, tag, value).increment();
    }

    private Counter counter(String name, String description, String tag, String value) {
        Key key = new Key(name, value, null, null);
        Counter known = counters.get(key);
        return known != null
                ? known
                : counters.computeIfAbsent(key, made -> counter(name, description, Tags.of(tag, value)));
    }

    private Counter counter(String name, String description, Tags tags) {
        return Counter.builder(name).description(description).tags(tags).register(registry);
    }
}
