package dev.ratelimit.admin;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.Problem;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.gate.Exemptions;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.Policy;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lists and changes limits, rules, quotas, API keys and penalties while requests are served. A change is committed when
 * the call returns, whatever transaction the caller is in. It takes effect on this instance immediately, on other
 * instances a moment later. Safe for use by many threads.
 *
 * <p>An invalid change is refused, and nothing is changed. If the storage fails, so does the call; our databases fail
 * with Spring's {@code DataAccessException}.
 *
 * <pre>{@code
 * admin.limits().set("api", Map.of("algorithm", "token-bucket", "burst", "50", "refill", "10/s"),
 *         Change.by("ops").until(launchEnds).because("launch day"));
 * }</pre>
 */
public final class RateLimitAdmin {

    private final PolicyStorage storage;
    private final LimitAdmin limits;
    private final RuleAdmin rules;
    private final QuotaAdmin quotas;
    private final ApiKeyAdmin keys;
    private final PenaltyAdmin penalties;
    private final SubjectAdmin subjects;
    private final ChangeLog changes;
    private final Resets resets;
    private final Explainer explainer;

    public RateLimitAdmin(PolicyStorage storage, RateLimiter limiter) {
        this(
                storage,
                limiter,
                new Gate(
                        storage,
                        storage.accounts(),
                        Exemptions.NONE,
                        new Subjects(Subjects.WHOLE_ADDRESS),
                        null,
                        storage.clock()));
    }

    /**
     * @param gate the one that requests walk through, so that explanations agree with it
     */
    public RateLimitAdmin(PolicyStorage storage, RateLimiter limiter, Gate gate) {
        this(storage, limiter, gate, limit -> List.of());
    }

    /**
     * @param gate the one that requests walk through, so that explanations agree with it
     * @param users finds those that name a limit and are no rules, such as annotations. A limit that they name is not removed
     */
    public RateLimitAdmin(PolicyStorage storage, RateLimiter limiter, Gate gate, Function<String, List<String>> users) {
        this.storage = storage;
        this.limits = new LimitAdmin(storage, users);
        this.rules = new RuleAdmin(storage);
        this.quotas = new QuotaAdmin(storage, limiter);
        this.keys = new ApiKeyAdmin(storage, limiter);
        this.resets = new Resets(storage, limiter);
        this.penalties = new PenaltyAdmin(storage, resets);
        this.subjects = new SubjectAdmin(storage, limiter, gate.subjects());
        this.changes = new ChangeLog(storage);
        this.explainer = new Explainer(storage, limiter, gate);
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

    public ApiKeyAdmin keys() {
        return keys;
    }

    public PenaltyAdmin penalties() {
        return penalties;
    }

    public SubjectAdmin subjects() {
        return subjects;
    }

    public ChangeLog changes() {
        return changes;
    }

    /** All limits, rules and tiers in force on this instance. */
    public Policy policy() {
        return storage.current();
    }

    /** The clock by which versions, blocks, API keys and penalties end. */
    public InstantSource clock() {
        return storage.clock();
    }

    /**
     * Switches everything off, on all instances: every request passes, and nothing is counted. Let the change expire
     * ({@link Change#until}), so that nobody has to remember to switch it on again. The versions of this switch are the history
     * of the limit {@value LimitBook#ALL}.
     */
    public Version<Map<String, String>> disable(Change change) {
        return limits.switchAll(false, change);
    }

    /** Switches everything on again, on all instances. */
    public Version<Map<String, String>> enable(Change change) {
        return limits.switchAll(true, change);
    }

    /** Whether limits and rules apply. */
    public boolean isEnabled() {
        return !storage.current().limits().isOff();
    }

    /**
     * Resets the count, the violations and the penalty of a subject on a limit.
     *
     * @param limit the name of a limit; {@code quota} for the whole quota
     * @return whether it succeeded; {@code false} if the store failed
     */
    public boolean reset(Subject subject, String limit, Change change) {
        return resets.reset(subject, limit, "reset", change);
    }

    /**
     * Resets a subject on all limits and quotas that count it, and subjects of several parts that begin with it.
     *
     * @return the names of these limits; {@code null} if the store failed
     * @throws IllegalArgumentException if no limit counts it
     */
    public @Nullable List<String> resetAll(Subject subject, Change change) {
        List<SubjectAdmin.Standing> standings = subjects.standings(subject, subjects.caller(subject));
        if (standings.isEmpty()) {
            throw new IllegalArgumentException(
                    "no limit is known to count '" + subject.text() + "'; name the limit that does");
        }
        return resets.resetAll(subject, standings, change)
                ? standings.stream()
                        .map(SubjectAdmin.Standing::limit)
                        .distinct()
                        .toList()
                : null;
    }

    /** Lists each rule, why it applies to a request or not, and what would remain. Consumes nothing. */
    public Explanation explain(Inquiry inquiry) {
        return explainer.explain(inquiry);
    }

    /** The stored rows that are invalid and skipped. */
    public List<Problem> problems() {
        return storage.problems();
    }
}
