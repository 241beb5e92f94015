package dev.ratelimit.admin;

import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.InForce;
import dev.ratelimit.admin.version.Layers;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.policy.InvalidRuleException;
import dev.ratelimit.policy.Rule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Lists and changes rules. A stored rule overrides the configured one of its name entirely. */
public final class RuleAdmin {

    private final PolicyStorage storage;

    RuleAdmin(PolicyStorage storage) {
        this.storage = storage;
    }

    /** All rules in force, in the order in which they are evaluated; then the disabled ones. */
    public List<InForce<Rule>> list() {
        EffectivePolicy effective = storage.effective();
        Map<String, Version<Rule>> stored = new TreeMap<>(effective.rules());
        List<InForce<Rule>> rules = new ArrayList<>();
        for (Rule rule : effective.policy().rules().rules()) {
            rules.add(new InForce<>(rule.name(), rule, stored.remove(rule.name())));
        }
        stored.forEach((name, disabled) -> rules.add(new InForce<>(name, null, disabled)));
        return rules;
    }

    /** The rule of that name that is in force or disabled, or {@code null}. */
    public @Nullable InForce<Rule> find(String name) {
        return list().stream()
                .filter(rule -> rule.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /**
     * The rule of a version.
     *
     * @param version the number of a stored version; zero for the configuration
     * @return {@code null} if the version has no rule
     * @throws IllegalArgumentException if there is no such version
     */
    public @Nullable Rule version(String name, int version) {
        Version<Rule> stored = version == 0 ? null : Version.find(storage.ruleHistory(name), "rule", name, version);
        if (stored != null && stored.state() != Version.State.REMOVED) {
            return stored.content();
        }
        return storage.effective().configuration().rules().stream()
                .filter(rule -> rule.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** All stored versions of that name, the newest first. */
    public List<Version<Rule>> history(String name) {
        return storage.ruleHistory(name);
    }

    /**
     * Stores a rule.
     *
     * @throws InvalidRuleException if it is invalid or has an expression; nothing is changed then
     */
    public Version<Rule> set(Rule rule, Change change) {
        return storage.change(transaction -> add(transaction, "set", rule.name(), Version.State.SET, rule, change));
    }

    /** Disables the rule of that name, whether it is stored or configured. */
    public Version<Rule> disable(String name, Change change) {
        return storage.change(transaction -> {
            Rule inForce = storage.current().rules().rules().stream()
                    .filter(rule -> rule.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            isDisabled(name)
                                    ? "rule '" + name + "' is switched off already"
                                    : "no rule '" + name + "' is in force"));
            return add(transaction, LimitAdmin.switching(false), name, Version.State.DISABLED, inForce, change);
        });
    }

    /**
     * Applies a disabled rule again, as it was before: a stored version keeps its end, and without one the configuration applies.
     *
     * @throws IllegalArgumentException if no rule of that name is disabled
     */
    public Version<Rule> enable(String name, Change change) {
        return storage.change(transaction -> {
            if (!isDisabled(name)) {
                throw new IllegalArgumentException("no rule '" + name + "' is disabled");
            }
            Instant now = storage.clock().instant();
            List<Version<Rule>> history = storage.ruleHistory(name);
            List<Version<Rule>> below = Layers.of(history, now).stream()
                    .dropWhile(layer -> layer.state() == Version.State.DISABLED)
                    .toList();
            List<Version<Rule>> again = Layers.again(name, history, below, change, now);
            return add(transaction, LimitAdmin.switching(true), name, again);
        });
    }

    private boolean isDisabled(String name) {
        Version<Rule> stored = storage.effective().rules().get(name);
        return stored != null && stored.state() == Version.State.DISABLED;
    }

    /**
     * Removes a stored rule, so that the configuration applies again.
     *
     * @throws IllegalArgumentException if no rule of that name is stored
     */
    public Version<Rule> remove(String name, Change change) {
        return storage.change(transaction -> {
            Map<String, Version<Rule>> stored = storage.effective().rules();
            if (!stored.containsKey(name)) {
                throw new IllegalArgumentException(
                        "no rule '" + name + "' is stored; name one of " + new TreeSet<>(stored.keySet()));
            }
            return add(transaction, "remove", name, Version.State.REMOVED, null, change);
        });
    }

    /**
     * Stores the content of an earlier version again. If that version has an end, so does this one.
     *
     * @throws IllegalArgumentException if there is no such version, or it has ended and the change has no end of its own
     */
    public Version<Rule> rollback(String name, int version, Change change) {
        return storage.change(transaction -> {
            Version<Rule> before = Version.find(storage.ruleHistory(name), "rule", name, version);
            if (before.state() == Version.State.BROKEN) {
                throw new InvalidRuleException(
                        name, "version", version, "name a valid version; this one is broken: " + before.problem());
            }
            Change ending =
                    Layers.rollback(before, "rule", change, storage.clock().instant());
            return add(transaction, "roll-back", name, before.state(), before.content(), ending);
        });
    }

    private Version<Rule> add(
            PolicyStorage.Transaction transaction,
            String action,
            String name,
            Version.State state,
            @Nullable Rule rule,
            Change change) {
        return add(
                transaction,
                action,
                name,
                List.of(Version.draft(
                        name,
                        storage.ruleHistory(name),
                        state,
                        rule,
                        change,
                        storage.clock().instant())));
    }

    /** Adds versions, the last of which is in force then, as one change. */
    private Version<Rule> add(
            PolicyStorage.Transaction transaction, String action, String name, List<Version<Rule>> drafts) {
        storage.effective().requireValidRule(drafts, storage.clock().instant());
        Version<Rule> last = drafts.get(drafts.size() - 1);
        InForce<Rule> before = find(name);
        transaction.log(
                new ChangeLog.Target(action, ChangeLog.Kind.RULE, name),
                last.change(),
                ChangeLog.json(before == null ? null : before.content()),
                ChangeLog.json(
                        switch (last.state()) {
                            case DISABLED -> null;
                            case REMOVED -> version(name, 0);
                            case SET, BROKEN -> last.content();
                        }));
        Version<Rule> added = last;
        for (Version<Rule> draft : drafts) {
            added = transaction.addRule(draft);
        }
        return added;
    }
}
