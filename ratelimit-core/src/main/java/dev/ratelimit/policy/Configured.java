package dev.ratelimit.policy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * What the configuration says, and what holds where nothing is stored.
 *
 * @param limits the definitions of the limits by name, see {@link LimitBook}
 * @param mode which of the rules that match apply
 * @param parser of the patterns of paths
 */
public record Configured(
        Map<String, Map<String, String>> limits,
        List<Rule> rules,
        Tiers tiers,
        MatchMode mode,
        PathPatternParser parser) {

    public Configured {
        limits = new LinkedHashMap<>(limits);
        rules = List.copyOf(rules);
    }

    /** What is in force if nothing is stored. */
    public Policy policy() {
        LimitBook book = LimitBook.of(limits);
        return new Policy(book, RuleBook.of(rules, book, mode, parser), tiers);
    }
}
