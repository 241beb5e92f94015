package dev.ratelimit.rule;

import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** All limits, rules and tiers that are in force together at one moment. */
public record Policy(Limits limits, RuleBook rules, Tiers tiers) {

    /** The limits that a rule asks for a caller, who may be unknown if the rule can do without. */
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
        return asked;
    }
}
