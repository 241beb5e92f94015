package dev.ratelimit.admin;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.policy.IpAddress;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Looks at limits, rules, quotas, API keys and penalties, and changes them while requests are served. A change is
 * committed when the call returns, whatever transaction the caller is in; this instance goes by it at once, the others
 * within a moment. Safe for use by many threads.
 *
 * <p>What cannot be right is refused, and nothing is changed. If the database fails, so does the call, with a
 * {@link org.springframework.dao.DataAccessException}.
 *
 * <pre>{@code
 * admin.limits().set("api", Map.of("algorithm", "token-bucket", "burst", "50", "refill", "10/s"),
 *         Change.by("ops").until(launchEnds).because("launch day"));
 * }</pre>
 */
public final class RateLimitAdmin {

    private final StoredPolicies policies;
    private final LimitAdmin limits;
    private final RuleAdmin rules;
    private final QuotaAdmin quotas;
    private final KeyAdmin keys;
    private final PenaltyAdmin penalties;
    private final Resets resets;
    private final Explainer explainer;

    public RateLimitAdmin(StoredPolicies policies, RateLimiter limiter) {
        this(policies, limiter, address -> Subject.ip(address.toString()), inquiry -> false);
    }

    /**
     * @param addresses the subject that a client's address counts as
     * @param exemptions whether no rule is asked about such a request
     */
    public RateLimitAdmin(
            StoredPolicies policies,
            RateLimiter limiter,
            Function<IpAddress, Subject> addresses,
            Predicate<Inquiry> exemptions) {
        Writes writes = new Writes(policies);
        this.policies = policies;
        this.limits = new LimitAdmin(policies, writes);
        this.rules = new RuleAdmin(policies, writes);
        this.quotas = new QuotaAdmin(policies, writes, limiter);
        this.keys = new KeyAdmin(policies, writes, limiter);
        this.resets = new Resets(policies, writes, limiter);
        this.penalties = new PenaltyAdmin(policies, resets);
        this.explainer = new Explainer(policies, limiter, addresses, exemptions);
    }

    public LimitAdmin limits() {
        return limits;
    }

    public RuleAdmin rules() {
        return rules;
    }

    public QuotaAdmin quotas() {
        return quotas;
    }

    public KeyAdmin keys() {
        return keys;
    }

    public PenaltyAdmin penalties() {
        return penalties;
    }

    /**
     * Forgets all that a limit knows of a subject: count, violations and penalty.
     *
     * @param limit the name of a limit; {@code quota} for the whole quota
     * @return whether it was done; {@code false} if the store failed
     */
    public boolean reset(Subject subject, String limit, String by) {
        return resets.reset(subject, limit, by);
    }

    /** Says which rules would apply to a request, which not and why, and what would remain. Consumes nothing. */
    public Explanation explain(Inquiry inquiry) {
        return explainer.explain(inquiry);
    }

    /** The stored rows that cannot be right and are skipped. */
    public List<Problem> problems() {
        return policies.problems();
    }
}
