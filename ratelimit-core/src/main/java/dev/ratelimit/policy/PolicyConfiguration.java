package dev.ratelimit.policy;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.policy.RuleBook.MatchMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * The limits, rules and tiers of the configuration. They apply where the database does not override them.
 *
 * @param limits the definitions of the limits by name, see {@link LimitBook}
 * @param mode which of the matching rules apply
 * @param parser reads the path patterns of rules
 * @param onFailure what to do when the store is unavailable, for rules that do not say it
 */
public record PolicyConfiguration(
        Map<String, Map<String, String>> limits,
        List<Rule> rules,
        Tiers tiers,
        MatchMode mode,
        PathPatternParser parser,
        FailurePolicy onFailure) {

    public PolicyConfiguration {
        limits = new LinkedHashMap<>(limits);
        rules = List.copyOf(rules);
    }

    /** A configuration with the usual failure policy. */
    public PolicyConfiguration(
            Map<String, Map<String, String>> limits,
            List<Rule> rules,
            Tiers tiers,
            MatchMode mode,
            PathPatternParser parser) {
        this(limits, rules, tiers, mode, parser, FailurePolicy.LOCAL);
    }

    /** Compiles the policy that is in force if nothing is stored. */
    public Policy policy() {
        LimitBook book = LimitBook.of(limits);
        return new Policy(book, ruleBook(rules, book), tiers);
    }

    /**
     * The whole definition of a stored limit. One that has neither an algorithm nor a base overrides single properties of the
     * configured limit of its name.
     */
    public Map<String, String> completed(String name, Map<String, String> stored) {
        Map<String, String> configured = limits.get(name);
        if (configured == null || stored.containsKey(LimitBook.ALGORITHM) || stored.containsKey(LimitBook.BASE)) {
            return stored;
        }
        Map<String, String> completed = new LinkedHashMap<>(configured);
        completed.putAll(stored);
        return completed;
    }

    /** Compiles rules with the match mode, the path patterns and the failure policy of this configuration. */
    public RuleBook ruleBook(List<Rule> all, LimitBook book) {
        List<Rule> complete =
                all.stream().map(rule -> rule.orOnFailure(onFailure)).toList();
        return RuleBook.of(complete, book, mode, parser);
    }
}
