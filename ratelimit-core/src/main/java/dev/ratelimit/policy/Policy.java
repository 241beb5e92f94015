package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** All limits, rules and tiers that are in force together at one moment. */
public record Policy(Limits limits, RuleBook rules, Tiers tiers) {

    /** The tiers that a quota, a limit, a rule or an authority speaks of, and the default. */
    public Set<String> tierNames() {
        Set<String> names = new TreeSet<>(tiers.names());
        if (limits instanceof LimitBook book) {
            names.addAll(book.tiers());
        }
        rules.rules().forEach(rule -> names.addAll(rule.conditions().tiers()));
        return names;
    }

    /**
     * The limits that a rule asks for a caller, who may be unknown if the rule can do without. Those of a rule in shadow have
     * names, and so counts, of their own.
     */
    public List<Limit> limitsOf(Rule rule, @Nullable Caller caller) {
        List<Limit> asked = new ArrayList<>(rule.limits().size());
        for (String name : rule.limits()) {
            if (name.equals(Quota.LIMIT)) {
                asked.addAll(Objects.requireNonNull(caller).quota());
            } else {
                Limit limit = caller == null ? limits.find(name) : limits.find(name, caller.tier());
                asked.add(Objects.requireNonNull(limit, "the book of rules was compiled with these limits"));
            }
        }
        if (rule.action() == Action.SHADOW) {
            asked.replaceAll(limit -> limit.renamed(limit.name() + LimitBook.SHADOW));
        }
        return asked;
    }
}
