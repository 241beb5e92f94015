package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Tiers;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All limits, rules and tiers that are in force together at one moment.
 *
 * @param ruleVersions the versions of the stored rules among them, by name
 */
public record Policy(Limits limits, RuleBook rules, Tiers tiers, Map<String, Integer> ruleVersions) {

    public Policy {
        ruleVersions = Map.copyOf(ruleVersions);
    }

    /** A policy without stored rules. */
    public Policy(Limits limits, RuleBook rules, Tiers tiers) {
        this(limits, rules, tiers, Map.of());
    }

    /** The version of a stored rule; {@code null} if no stored rule of that name is in force. */
    public @Nullable Integer ruleVersion(@Nullable String rule) {
        return rule == null ? null : ruleVersions.get(rule);
    }

    /** The tiers that a quota, a limit, a rule or an authority speaks of, and the default. */
    public Set<String> tierNames() {
        Set<String> names = new TreeSet<>(tiers.names());
        if (limits instanceof LimitBook book) {
            names.addAll(book.tiers());
        }
        rules.rules().forEach(rule -> names.addAll(rule.conditions().tiers()));
        return names;
    }

    /** A limit that a rule names, with the numbers for the tier of the caller, if the caller is known. */
    public Limit limit(String name, @Nullable Caller caller) {
        Limit limit = caller == null ? limits.find(name) : limits.find(name, caller.tier());
        return Objects.requireNonNull(limit, "the book of rules was compiled with these limits");
    }
}
