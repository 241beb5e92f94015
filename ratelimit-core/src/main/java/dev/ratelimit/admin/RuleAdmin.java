package dev.ratelimit.admin;

import dev.ratelimit.admin.PolicyCompiler.Compiled;
import dev.ratelimit.data.RuleVersion;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.data.StoredRule;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Lists and changes rules. A stored rule overrides the configured one of its name entirely. */
public final class RuleAdmin {

    private final StoredPolicies policies;
    private final Writes writes;

    RuleAdmin(StoredPolicies policies, Writes writes) {
        this.policies = policies;
        this.writes = writes;
    }

    /** All that are in force, in the order in which they are walked; then those that are disabled. */
    public List<Entry<Rule>> list() {
        Compiled compiled = policies.compiled();
        Map<String, RuleVersion> stored = new HashMap<>(compiled.rules());
        List<Entry<Rule>> entries = new ArrayList<>();
        for (Rule rule : compiled.policy().rules().rules()) {
            RuleVersion version = stored.remove(rule.name());
            entries.add(new Entry<>(rule.name(), rule, version == null ? null : revision(version)));
        }
        for (String disabled : new TreeSet<>(stored.keySet())) {
            RuleVersion version = stored.get(disabled);
            if (version != null) {
                entries.add(new Entry<>(disabled, null, revision(version)));
            }
        }
        return entries;
    }

    /** The one of that name that is in force or disabled, or {@code null}. */
    public @Nullable Entry<Rule> find(String name) {
        return list().stream()
                .filter(entry -> entry.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    private static Revision<Rule> revision(RuleVersion row) {
        if (row.removed()) {
            return Revision.of(row, Revision.State.REMOVED, null);
        }
        try {
            Rule rule = StoredRule.read(row);
            return Revision.of(row, row.enabled() ? Revision.State.SET : Revision.State.DISABLED, rule);
        } catch (InvalidRuleException e) {
            return Revision.of(row, Revision.State.BROKEN, null);
        }
    }

    /** All versions of that name that were ever stored, the newest first. */
    public List<Revision<Rule>> history(String name) {
        return policies.database().rules().findByRuleNameOrderByVersionDesc(name).stream()
                .map(RuleAdmin::revision)
                .toList();
    }

    /**
     * Stores a rule.
     *
     * @throws InvalidRuleException if it cannot be right, or has an expression; nothing is changed then
     */
    public Revision<Rule> set(Rule rule, Change change) {
        return writes.change(() -> write(StoredRule.write(rule, next(rule.name()), lasting(change), writes.now())));
    }

    /** Lets no rule of that name apply, neither a stored nor a configured one. */
    public Revision<Rule> disable(String name, Change change) {
        return writes.change(() -> {
            Rule inForce = policies.compiled().policy().rules().rules().stream()
                    .filter(rule -> rule.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("no rule '" + name + "' is in force"));
            return write(StoredRule.disabled(inForce, next(name), lasting(change), writes.now()));
        });
    }

    /**
     * Lets what the configuration says apply again.
     *
     * @throws IllegalArgumentException if no rule of that name is stored
     */
    public Revision<Rule> remove(String name, Change change) {
        return writes.change(() -> {
            Compiled now = policies.compiled();
            if (!now.rules().containsKey(name)) {
                throw new IllegalArgumentException("no rule '" + name + "' is stored; name one of "
                        + new TreeSet<>(now.rules().keySet()));
            }
            return write(StoredRule.removal(name, next(name), lasting(change), writes.now()));
        });
    }

    /** Stores the content of an earlier version once more. */
    public Revision<Rule> rollback(String name, int version, Change change) {
        return writes.change(() -> {
            List<RuleVersion> versions = policies.database().rules().findByRuleNameOrderByVersionDesc(name);
            RuleVersion before = Writes.version(versions, "rule", name, version);
            return write(
                    StoredRule.copy(before, Writes.next(versions), before.enabled(), lasting(change), writes.now()));
        });
    }

    private int next(String name) {
        return Writes.next(policies.database().rules().findByRuleNameOrderByVersionDesc(name));
    }

    private Change lasting(Change change) {
        change.requireLasting(policies.clock().instant());
        return change;
    }

    private Revision<Rule> write(RuleVersion added) {
        writes.requireRight(added);
        return revision(policies.database().rules().save(added));
    }
}
