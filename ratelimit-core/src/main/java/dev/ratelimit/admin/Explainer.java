package dev.ratelimit.admin;

import dev.ratelimit.Decision;
import dev.ratelimit.IpAddress;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.gate.Arrival;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.gate.Identity;
import dev.ratelimit.gate.Rejection;
import dev.ratelimit.gate.Visit;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Walks a described request through the gate, and reports what would happen to it. Consumes nothing. */
final class Explainer {

    private final PolicyStorage storage;
    private final RateLimiter limiter;
    private final Gate gate;

    Explainer(PolicyStorage storage, RateLimiter limiter, Gate gate) {
        this.storage = storage;
        this.limiter = limiter;
        this.gate = gate;
    }

    Explanation explain(Inquiry inquiry) {
        Visit visit = gate.visit(arrival(inquiry), Gate.Mode.EXPLAIN);
        visit.peek(visit.arrive(), limiter::peek);
        visit.peek(visit.identified(new Identity(inquiry.user(), inquiry.authorities())), limiter::peek);
        List<Explanation.OfRule> rules = new ArrayList<>();
        for (RuleBook.WalkedRule explained : visit.explained()) {
            Rule rule = explained.rule();
            rules.add(new Explanation.OfRule(
                    rule,
                    explained.applies(),
                    explained.why(),
                    explained.applies() && rule.action().hasLimits() ? limits(visit, rule) : List.of()));
        }
        Caller caller = visit.caller();
        return new Explanation(
                visit.completed(0, null).outcome(),
                caller.user(),
                caller.tier(),
                caller.choice().origin(),
                apiKey(visit),
                visit.blockedUntil(),
                visit.isExempt(),
                rules);
    }

    private Arrival arrival(Inquiry inquiry) {
        String id = inquiry.apiKey();
        Supplier<@Nullable ApiKey> apiKey = id == null ? null : () -> storage.findKey(id);
        return new Arrival(
                inquiry.method(),
                false,
                PathReadings.of(inquiry.path()),
                IpAddress.parse(inquiry.address()),
                apiKey,
                null);
    }

    private static @Nullable String apiKey(Visit visit) {
        ApiKey key = visit.apiKey();
        if (key != null) {
            return key.name();
        }
        if (!visit.hasUnknownApiKey()) {
            return null;
        }
        Rejection rejection = visit.rejection(); // none if the request is exempt
        return "invalid API key" + (rejection == null ? "" : ": rejected with " + rejection.status());
    }

    private List<Explanation.OfLimit> limits(Visit visit, Rule rule) {
        List<Explanation.OfLimit> limits = new ArrayList<>();
        for (Visit.Counted counted : visit.counted(rule)) {
            limits.add(limit(visit, counted, rule));
        }
        return limits;
    }

    private Explanation.OfLimit limit(Visit visit, Visit.Counted counted, Rule rule) {
        String name = counted.limit().name();
        Subject subject = counted.subject();
        if (subject == null) {
            return new Explanation.OfLimit(
                    name, null, null, "whose count it is (" + rule.key() + ") cannot be known without a request");
        }
        LimitDecision answer = answer(visit, counted.limit(), subject);
        return new Explanation.OfLimit(
                name, subject.text(), answer, answer == null ? "the store is unavailable" : null);
    }

    /**
     * The answer that led to the outcome: under traffic, another look would differ. Only a limit that the walk did not ask is looked
     * at here: one on trial, or one of a request that a rule blocks.
     */
    private @Nullable LimitDecision answer(Visit visit, Limit limit, Subject subject) {
        Decision asked = visit.decisionOn(subject, limit);
        List<LimitDecision> answers =
                asked == null ? QuotaUsage.peek(subject, List.of(limit), limiter) : asked.limits();
        for (LimitDecision one : answers) {
            if (one.subject().equals(subject) && one.limit().name().equals(limit.name())) {
                return one;
            }
        }
        return null;
    }
}
