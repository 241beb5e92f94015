package dev.ratelimit.policy;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** How far a walk along the rules has come. */
public final class RuleMatch {

    private final List<Rule> rules;
    private final @Nullable Rule end;

    /** The part that can only be compared, or asked, after authentication. */
    final List<CompiledRule> open;

    RuleMatch(List<Rule> rules, @Nullable Rule end, List<CompiledRule> open) {
        this.rules = rules;
        this.end = end;
        this.open = open;
    }

    /** The rules that match and whose limits can be asked now, in order. */
    public List<Rule> rules() {
        return rules;
    }

    /** The rule that says allow or block and ended the walk, or {@code null}. */
    public @Nullable Rule end() {
        return end;
    }

    /** Whether there is something left for when the caller is known. */
    public boolean isOpen() {
        return !open.isEmpty();
    }
}
