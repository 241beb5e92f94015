package dev.ratelimit.admin;

import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.InForce;
import dev.ratelimit.admin.version.Version;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.setting.InvalidLimitException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lists and changes limits. A limit is given by its definition: the properties that {@link LimitBook} knows. A stored
 * limit overrides the configured one of its name: single properties, or all of them if it has an algorithm or a base.
 */
public final class LimitAdmin {

    private final PolicyStorage storage;
    private final Function<String, List<String>> users;

    /**
     * @param users finds those that name a limit and are no rules
     */
    LimitAdmin(PolicyStorage storage, Function<String, List<String>> users) {
        this.storage = storage;
        this.users = users;
    }

    /** All limits in force, by name. */
    public List<InForce<Map<String, String>>> list() {
        EffectivePolicy effective = storage.effective();
        List<InForce<Map<String, String>>> limits = new ArrayList<>();
        for (String name : new TreeSet<>(effective.policy().limits().names())) {
            limits.add(inForce(name, effective));
        }
        return limits;
    }

    /** The limit of that name that is in force, or {@code null}. */
    public @Nullable InForce<Map<String, String>> find(String name) {
        EffectivePolicy effective = storage.effective();
        return effective.policy().limits().find(name) == null ? null : inForce(name, effective);
    }

    private static InForce<Map<String, String>> inForce(String name, EffectivePolicy effective) {
        Version<Map<String, String>> stored = effective.limits().get(name);
        Map<String, String> content = stored == null ? null : stored.content();
        return content == null
                ? new InForce<>(name, effective.configuration().limits().get(name), null)
                : new InForce<>(name, effective.configuration().completed(name, content), stored);
    }

    /**
     * The whole definition of a version, with the configured properties that it does not override.
     *
     * @param version the number of a stored version; zero for the configuration
     * @throws IllegalArgumentException if there is no such version
     */
    public Map<String, String> definition(String name, int version) {
        PolicyConfiguration configuration = storage.effective().configuration();
        if (version == 0) {
            return configuration.limits().getOrDefault(name, Map.of());
        }
        Map<String, String> content =
                Version.find(storage.limitHistory(name), "limit", name, version).content();
        return content == null
                ? configuration.limits().getOrDefault(name, Map.of())
                : configuration.completed(name, content);
    }

    /** All stored versions of that name, the newest first. */
    public List<Version<Map<String, String>>> history(String name) {
        return storage.limitHistory(name);
    }

    /**
     * Stores a limit, or single properties that override those of the configured limit.
     *
     * @throws InvalidLimitException if it is invalid; nothing is changed then
     * @throws IllegalArgumentException if it would invalidate another limit or a rule; nothing is changed then
     */
    public Version<Map<String, String>> set(String name, Map<String, String> definition, Change change) {
        Map<String, String> stripped = stripped(name, definition);
        return storage.change(transaction -> add(transaction, "set", name, Version.State.SET, stripped, change));
    }

    /** Properties are stored as lines, so none may span several. */
    private static Map<String, String> stripped(String limit, Map<String, String> definition) {
        Map<String, String> stripped = new LinkedHashMap<>();
        definition.forEach((property, value) -> {
            if (property.isBlank() || property.indexOf(':') >= 0 || hasLines(property) || hasLines(value)) {
                throw new InvalidLimitException(
                        limit, property, value, "write one line for each property, such as max-requests: 100");
            }
            if (stripped.put(property.strip(), value.strip()) != null) {
                throw new InvalidLimitException(limit, property.strip(), value.strip(), "write it once only");
            }
        });
        return stripped;
    }

    private static boolean hasLines(String text) {
        return text.lines().count() > 1;
    }

    /**
     * Removes a stored limit, so that the configuration applies again.
     *
     * @throws IllegalArgumentException if no limit of that name is stored, or if a rule, another limit, an annotation
     *     or a login would lack it; nothing is changed then
     */
    public Version<Map<String, String>> remove(String name, Change change) {
        return storage.change(transaction -> {
            EffectivePolicy now = storage.effective();
            if (!now.limits().containsKey(name)) {
                throw new IllegalArgumentException("no limit '" + name + "' is stored; name one of "
                        + new TreeSet<>(now.limits().keySet()));
            }
            requireUnused(name, now);
            return add(transaction, "remove", name, Version.State.REMOVED, null, change);
        });
    }

    private void requireUnused(String name, EffectivePolicy now) {
        if (now.configuration().limits().containsKey(name)) {
            return;
        }
        List<String> rules = now.policy().rules().rules().stream()
                .filter(rule -> rule.limits().contains(name))
                .map(Rule::name)
                .toList();
        if (!rules.isEmpty()) {
            throw new InvalidLimitException(
                    name,
                    "limit name",
                    name,
                    "change or remove the rules that name it first: " + String.join(", ", rules));
        }
        List<String> others = users.apply(name);
        if (!others.isEmpty()) {
            throw new InvalidLimitException(
                    name,
                    "limit name",
                    name,
                    "keep it, or define it under ratelimit.limits first: " + String.join(" and ", others)
                            + " of this application names it");
        }
    }

    /**
     * Switches a limit off: it is neither asked nor charged, and its count stays as it is.
     *
     * @throws IllegalArgumentException if no limit of that name is in force
     */
    public Version<Map<String, String>> disable(String name, Change change) {
        return switched(name, false, change);
    }

    /** Switches a limit on again. */
    public Version<Map<String, String>> enable(String name, Change change) {
        return switched(name, true, change);
    }

    private Version<Map<String, String>> switched(String name, boolean enabled, Change change) {
        return storage.change(transaction -> {
            InForce<Map<String, String>> limit = find(name);
            if (limit == null || limit.content() == null) {
                throw new IllegalArgumentException("no limit '" + name + "' is in force; name one of "
                        + new TreeSet<>(storage.current().limits().names()));
            }
            Map<String, String> definition = new LinkedHashMap<>(limit.content());
            definition.put(LimitBook.ENABLED, Boolean.toString(enabled));
            return add(transaction, switching(enabled), name, Version.State.SET, definition, change);
        });
    }

    /** Switches all limits and rules off or on: see {@link RateLimitAdmin#disable}. */
    Version<Map<String, String>> switchAll(boolean enabled, Change change) {
        Map<String, String> definition = Map.of(LimitBook.ENABLED, Boolean.toString(enabled));
        return storage.change(transaction ->
                add(transaction, switching(enabled), LimitBook.ALL, Version.State.SET, definition, change));
    }

    /** Stores the content of an earlier version again. */
    public Version<Map<String, String>> rollback(String name, int version, Change change) {
        return storage.change(transaction -> {
            Version<Map<String, String>> before = Version.find(storage.limitHistory(name), "limit", name, version);
            if (before.state() == Version.State.BROKEN) {
                throw new InvalidLimitException(
                        name, "version", version, "name a valid version; this one is broken: " + before.problem());
            }
            return add(transaction, "roll-back", name, before.state(), before.content(), change);
        });
    }

    private Version<Map<String, String>> add(
            PolicyStorage.Transaction transaction,
            String action,
            String name,
            Version.State state,
            @Nullable Map<String, String> definition,
            Change change) {
        Instant now = storage.clock().instant();
        Version<Map<String, String>> draft =
                Version.draft(name, storage.limitHistory(name), state, definition, change, now);
        EffectivePolicy effective = storage.effective();
        effective.requireValidLimit(draft, now);
        PolicyConfiguration configuration = effective.configuration();
        transaction.log(
                new ChangeLog.Target(action, ChangeLog.Kind.LIMIT, name),
                change,
                ChangeLog.json(inForce(name, effective).content()),
                ChangeLog.json(
                        definition == null
                                ? configuration.limits().get(name)
                                : configuration.completed(name, definition)));
        return transaction.addLimit(draft);
    }

    /** The action of a switch, in the log of changes. */
    static String switching(boolean enabled) {
        return enabled ? "switch-on" : "switch-off";
    }
}
