package dev.ratelimit.admin;

import dev.ratelimit.admin.version.Change;
import dev.ratelimit.admin.version.EffectivePolicy;
import dev.ratelimit.admin.version.InForce;
import dev.ratelimit.admin.version.Layers;
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

    /**
     * The same, if the version in force is still the one that the operator saw.
     *
     * @param seen the number of that version; zero for the configuration
     * @throws IllegalStateException if the limit has changed meanwhile; nothing is changed then
     */
    public Version<Map<String, String>> set(String name, Map<String, String> definition, int seen, Change change) {
        Map<String, String> stripped = stripped(name, definition);
        return storage.change(transaction -> {
            requireUnchanged(name, seen);
            return add(transaction, "set", name, Version.State.SET, stripped, change);
        });
    }

    private void requireUnchanged(String name, int seen) {
        InForce<Map<String, String>> limit = find(name);
        Version<Map<String, String>> stored = limit == null ? null : limit.version();
        int number = stored == null ? 0 : stored.number();
        if (number == seen) {
            return;
        }
        List<Version<Map<String, String>>> history = storage.limitHistory(name);
        Version<Map<String, String>> newest = history.isEmpty() ? null : history.get(0);
        throw new IllegalStateException("limit '" + name + "' was changed meanwhile"
                + (newest == null || newest.number() <= seen ? "" : " by " + newest.by()) + ": "
                + (number == 0 ? "the configuration" : "version " + number) + " is in force, but you saw "
                + (seen == 0 ? "the configuration" : "version " + seen) + "; look at it and try again");
    }

    /** Properties are stored as lines, so none may span several. */
    private static Map<String, String> stripped(String limit, Map<String, String> definition) {
        Map<String, String> stripped = new LinkedHashMap<>();
        definition.forEach((property, value) -> {
            if (property.isBlank() || property.indexOf(':') >= 0 || hasLines(property) || hasLines(value)) {
                throw new InvalidLimitException(
                        limit, property, value, "write one line for each property, such as max-requests: 100");
            }
            if (value.isBlank()) {
                throw new InvalidLimitException(
                        limit,
                        property.strip(),
                        "",
                        "write a value; to leave a configured property out, write all properties of the limit without"
                                + " it, the algorithm included");
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
                    InvalidLimitException.NAME,
                    name,
                    "change or remove the rules that name it first: " + String.join(", ", rules));
        }
        List<String> others = users.apply(name);
        if (!others.isEmpty()) {
            throw new InvalidLimitException(
                    name,
                    InvalidLimitException.NAME,
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
        return storage.change(transaction -> {
            Version<Map<String, String>> stored = require(name).version();
            Map<String, String> definition = switched(stored == null ? null : stored.content(), false);
            return add(transaction, switching(false), name, Version.State.SET, definition, change);
        });
    }

    /**
     * Switches a limit on again, as it was before: a stored version keeps its end, and without one the configuration applies.
     *
     * @throws IllegalArgumentException if no limit of that name is switched off
     */
    public Version<Map<String, String>> enable(String name, Change change) {
        return storage.change(transaction -> {
            InForce<Map<String, String>> limit = require(name);
            if (!isOff(limit.content())) {
                throw new IllegalArgumentException("limit '" + name + "' is not switched off"
                        + (storage.current().limits().isOff() ? "; switch everything on instead" : ""));
            }
            Instant now = storage.clock().instant();
            List<Version<Map<String, String>>> history = storage.limitHistory(name);
            List<Version<Map<String, String>>> below = withoutSwitches(Layers.of(history, now), history);
            return add(transaction, switching(true), name, on(name, history, below, change, now));
        });
    }

    private InForce<Map<String, String>> require(String name) {
        InForce<Map<String, String>> limit = find(name);
        if (limit == null || limit.content() == null) {
            throw new IllegalArgumentException("no limit '" + name + "' is in force; name one of "
                    + new TreeSet<>(storage.current().limits().names()));
        }
        return limit;
    }

    private static boolean isOff(@Nullable Map<String, String> definition) {
        return definition != null && "false".equals(definition.get(LimitBook.ENABLED));
    }

    /** The layers below those that {@link #disable} has put over them. */
    private static List<Version<Map<String, String>>> withoutSwitches(
            List<Version<Map<String, String>>> layers, List<Version<Map<String, String>>> history) {
        return layers.stream()
                .dropWhile(layer -> isOff(layer.content()) && repeatsEarlier(layer, history))
                .toList();
    }

    /** Whether nothing but the switch differs from a version before it, or from the configuration. */
    private static boolean repeatsEarlier(
            Version<Map<String, String>> layer, List<Version<Map<String, String>>> history) {
        Map<String, String> numbers = withoutSwitch(layer.content());
        return numbers.isEmpty()
                || history.stream()
                        .filter(version -> version.number() < layer.number())
                        .anyMatch(version -> numbers.equals(withoutSwitch(version.content())));
    }

    private static Map<String, String> withoutSwitch(@Nullable Map<String, String> definition) {
        Map<String, String> numbers = new LinkedHashMap<>(definition == null ? Map.of() : definition);
        numbers.remove(LimitBook.ENABLED);
        return numbers;
    }

    private List<Version<Map<String, String>>> on(
            String name,
            List<Version<Map<String, String>>> history,
            List<Version<Map<String, String>>> below,
            Change change,
            Instant now) {
        PolicyConfiguration configuration = storage.effective().configuration();
        Version<Map<String, String>> top = below.isEmpty() ? null : below.get(0);
        Map<String, String> content = top == null ? null : top.content();
        Map<String, String> then =
                content == null ? configuration.limits().get(name) : configuration.completed(name, content);
        if (then != null && !isOff(then)) {
            return Layers.again(name, history, below, change, now);
        }
        // It was stored or configured as one that is off.
        Map<String, String> definition = switched(content, true);
        Change ending = top == null ? change : change.endingBy(top.expiresAt());
        return List.of(Version.draft(name, history, Version.State.SET, definition, ending, now));
    }

    /** The properties to store. The configured ones are left out, so that they still follow the configuration. */
    private static Map<String, String> switched(@Nullable Map<String, String> stored, boolean enabled) {
        Map<String, String> definition = withoutSwitch(stored);
        definition.put(LimitBook.ENABLED, Boolean.toString(enabled));
        return definition;
    }

    /** Switches all limits and rules off or on: see {@link RateLimitAdmin#disable}. */
    Version<Map<String, String>> switchAll(boolean enabled, Change change) {
        Map<String, String> definition = Map.of(LimitBook.ENABLED, Boolean.toString(enabled));
        return storage.change(transaction ->
                add(transaction, switching(enabled), LimitBook.ALL, Version.State.SET, definition, change));
    }

    /**
     * Stores the content of an earlier version again. If that version has an end, so does this one.
     *
     * @throws IllegalArgumentException if there is no such version, or it has ended and the change has no end of its own
     */
    public Version<Map<String, String>> rollback(String name, int version, Change change) {
        return storage.change(transaction -> {
            Version<Map<String, String>> before = Version.find(storage.limitHistory(name), "limit", name, version);
            if (before.state() == Version.State.BROKEN) {
                throw new InvalidLimitException(
                        name, "version", version, "name a valid version; this one is broken: " + before.problem());
            }
            Change ending =
                    Layers.rollback(before, "limit", change, storage.clock().instant());
            return add(transaction, "roll-back", name, before.state(), before.content(), ending);
        });
    }

    private Version<Map<String, String>> add(
            PolicyStorage.Transaction transaction,
            String action,
            String name,
            Version.State state,
            @Nullable Map<String, String> definition,
            Change change) {
        return add(
                transaction,
                action,
                name,
                List.of(Version.draft(
                        name,
                        storage.limitHistory(name),
                        state,
                        definition,
                        change,
                        storage.clock().instant())));
    }

    /** Adds versions, the last of which is in force then, as one change. */
    private Version<Map<String, String>> add(
            PolicyStorage.Transaction transaction,
            String action,
            String name,
            List<Version<Map<String, String>>> drafts) {
        EffectivePolicy effective = storage.effective();
        effective.requireValidLimit(drafts, storage.clock().instant());
        Version<Map<String, String>> last = drafts.get(drafts.size() - 1);
        Map<String, String> definition = last.content();
        PolicyConfiguration configuration = effective.configuration();
        transaction.log(
                new ChangeLog.Target(action, ChangeLog.Kind.LIMIT, name),
                last.change(),
                ChangeLog.json(inForce(name, effective).content()),
                ChangeLog.json(
                        definition == null
                                ? configuration.limits().get(name)
                                : configuration.completed(name, definition)));
        Version<Map<String, String>> added = last;
        for (Version<Map<String, String>> draft : drafts) {
            added = transaction.addLimit(draft);
        }
        return added;
    }

    /** The action of a switch, in the log of changes. */
    static String switching(boolean enabled) {
        return enabled ? "switch-on" : "switch-off";
    }
}
