package dev.ratelimit.admin;

import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.policy.Rule;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What would become of a request, and why.
 *
 * @param outcome how the request would come out now
 * @param user who it is taken to come from, or {@code null} for nobody
 * @param tier of the caller
 * @param tierFrom where the tier comes from
 * @param apiKey what is known of the key that was asked about; {@code null} if there was none
 * @param blockedUntil until when the user is blocked, or {@code null}
 * @param exempt whether no rule is asked at all, so that those below say what would be otherwise
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
     * What becomes of one rule.
     *
     * @param why if it does not apply, the reason
     * @param limits what its limits would say, if it applies and has any
     */
    public record OfRule(Rule rule, boolean applies, String why, List<OfLimit> limits) {}

    /**
     * What one limit would say.
     *
     * @param subject whose count it is; {@code null} if that cannot be known without a request
     * @param decision what it would say now, with what remains; {@code null} if that cannot be known
     * @param note why it cannot be known, or {@code null}
     */
    public record OfLimit(
            String limit,
            @Nullable String subject,
            @Nullable LimitDecision decision,
            @Nullable String note) {}
}
