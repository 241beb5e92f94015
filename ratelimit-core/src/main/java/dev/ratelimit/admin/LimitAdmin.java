package dev.ratelimit.admin;

import dev.ratelimit.InvalidLimitException;
import dev.ratelimit.admin.PolicyCompiler.Compiled;
import dev.ratelimit.data.Definition;
import dev.ratelimit.data.LimitVersion;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Lists and changes limits. A limit is given by its definition, the properties that {@link LimitBook} knows. A stored
 * limit overrides the configured one of its name entirely.
 */
public final class LimitAdmin {

    private final StoredPolicies policies;
    private final Writes writes;

    LimitAdmin(StoredPolicies policies, Writes writes) {
        this.policies = policies;
        this.writes = writes;
    }

    /** All that are in force, by name. */
    public List<Entry<Map<String, String>>> list() {
        Compiled compiled = policies.compiled();
        List<Entry<Map<String, String>>> entries = new ArrayList<>();
        for (String name : new TreeSet<>(compiled.policy().limits().names())) {
            entries.add(entry(name, compiled));
        }
        return entries;
    }

    /** The one of that name that is in force, or {@code null}. */
    public @Nullable Entry<Map<String, String>> find(String name) {
        Compiled compiled = policies.compiled();
        return compiled.policy().limits().find(name) == null ? null : entry(name, compiled);
    }

    private Entry<Map<String, String>> entry(String name, Compiled compiled) {
        LimitVersion stored = compiled.limits().get(name);
        if (stored == null) {
            return new Entry<>(name, policies.configured().limits().get(name), null);
        }
        Revision<Map<String, String>> revision = revision(stored);
        return new Entry<>(name, revision.content(), revision);
    }

    private static Revision<Map<String, String>> revision(LimitVersion row) {
        String definition = row.definition();
        if (definition == null) {
            return Revision.of(row, Revision.State.REMOVED, null);
        }
        try {
            return Revision.of(row, Revision.State.SET, Definition.parse(row.name(), definition));
        } catch (InvalidLimitException e) {
            return Revision.of(row, Revision.State.BROKEN, null);
        }
    }

    /** All versions of that name that were ever stored, the newest first. */
    public List<Revision<Map<String, String>>> history(String name) {
        return policies.database().limits().findByResourceOrderByVersionDesc(name).stream()
                .map(LimitAdmin::revision)
                .toList();
    }

    /**
     * Stores a limit.
     *
     * @throws InvalidLimitException if it cannot be right; nothing is changed then
     * @throws IllegalArgumentException if another limit or a rule would be wrong because of it; nothing is changed then
     */
    public Revision<Map<String, String>> set(String name, Map<String, String> definition, Change change) {
        return add(name, Definition.text(name, definition), change);
    }

    /**
     * Lets what the configuration says apply again.
     *
     * @throws IllegalArgumentException if no limit of that name is stored, or if there would be none and a rule or
     *     another limit names it; nothing is changed then
     */
    public Revision<Map<String, String>> remove(String name, Change change) {
        return writes.change(() -> {
            Compiled now = policies.compiled();
            if (!now.limits().containsKey(name)) {
                throw new IllegalArgumentException("no limit '" + name + "' is stored; name one of "
                        + new TreeSet<>(now.limits().keySet()));
            }
            requireUnused(name, now);
            return write(name, null, change);
        });
    }

    private void requireUnused(String name, Compiled now) {
        if (policies.configured().limits().containsKey(name)) {
            return;
        }
        List<String> users = now.policy().rules().rules().stream()
                .filter(rule -> rule.limits().contains(name))
                .map(Rule::name)
                .toList();
        if (!users.isEmpty()) {
            throw new InvalidLimitException(
                    name,
                    "limit name",
                    name,
                    "change or remove the rules that name it first: " + String.join(", ", users));
        }
    }

    /** Stores the content of an earlier version once more. */
    public Revision<Map<String, String>> rollback(String name, int version, Change change) {
        return writes.change(() -> {
            List<LimitVersion> versions = policies.database().limits().findByResourceOrderByVersionDesc(name);
            LimitVersion before = Writes.version(versions, "limit", name, version);
            return write(name, before.definition(), change);
        });
    }

    private Revision<Map<String, String>> add(String name, String definition, Change change) {
        return writes.change(() -> write(name, definition, change));
    }

    private Revision<Map<String, String>> write(String name, @Nullable String definition, Change change) {
        change.requireLasting(policies.clock().instant());
        List<LimitVersion> versions = policies.database().limits().findByResourceOrderByVersionDesc(name);
        LimitVersion added = new LimitVersion(
                null,
                name,
                Writes.next(versions),
                definition,
                change.by(),
                writes.now(),
                change.expiresAtMicros(),
                change.reason());
        writes.requireRight(added);
        return revision(policies.database().limits().save(added));
    }
}
