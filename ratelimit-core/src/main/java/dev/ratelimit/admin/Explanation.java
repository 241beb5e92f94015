package dev.ratelimit.admin;

import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.policy.Rule;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The expected outcome of a request, and the reasons.
 *
 * @param outcome how the request would come out now
 * @param user the user it counts for, or {@code null} for nobody
 * @param tier of the caller
 * @param tierFrom where the tier comes from
 * @param apiKey the name of its API key, or a note that the key is invalid; {@code null} if there is none
 * @param blockedUntil until when the user is blocked, or {@code null}
 * @param exempt whether no rule applies; {@code rules} then show the result without the exemption
 * @param rules every rule in force, in the order in which they are walked
 */
public record Explanation(
        Outcome outcome,
        @Nullable String user,
        String tier,
        String tierFrom,
        @Nullable String apiKey,
        @Nullable Instant blockedUntil,
        boolean exempt,
        List<OfRule> rules) {

    /** The rules that would decide the request. */
    public List<OfRule> applying() {
        return rules.stream().filter(OfRule::applies).toList();
    }

    /**
     * The part of one rule.
     *
     * @param why if it does not apply, the reason
     * @param limits the answers of its limits, if it applies and has any
     */
    public record OfRule(Rule rule, boolean applies, String why, List<OfLimit> limits) {}

    /**
     * The answer of one limit.
     *
     * @param subject whose count it is; {@code null} if that cannot be known without a request
     * @param decision its answer now, with the remainder; {@code null} if it cannot be known
     * @param note why it cannot be known, or {@code null}
     */
    public record OfLimit(
            String limit,
            @Nullable String subject,
            @Nullable LimitDecision decision,
            @Nullable String note) {}
}
