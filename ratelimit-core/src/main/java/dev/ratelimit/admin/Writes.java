package dev.ratelimit.admin;

import dev.ratelimit.Micros;
import dev.ratelimit.admin.PolicyCompiler.Compiled;
import dev.ratelimit.data.LimitVersion;
import dev.ratelimit.data.RuleVersion;
import dev.ratelimit.data.StoredPolicies;
import dev.ratelimit.data.StoredVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * How the administration writes.
 *
 * <ol>
 *   <li>Nobody else writes meanwhile, on any instance, and this instance reads what others have written before.
 *   <li>What would be in force is made in memory, so that others wait for no longer than need be. A change that cannot be
 *       right, or that would make something else wrong, is refused, and nothing is written.
 *   <li>It is written and committed, whatever transaction the caller is in.
 *   <li>This instance reads it before the call returns, the others hear of it.
 * </ol>
 */
final class Writes {

    private static final Logger log = LoggerFactory.getLogger(Writes.class);

    private final StoredPolicies policies;

    Writes(StoredPolicies policies) {
        this.policies = policies;
    }

    <T> T change(Supplier<T> work) {
        T result = policies.database().change(policies.clock(), () -> {
            policies.refresh();
            return work.get();
        });
        refresh();
        return result;
    }

    void change(Runnable work) {
        boolean unused = change(() -> {
            work.run();
            return true;
        });
    }

    private void refresh() {
        try {
            policies.refresh();
        } catch (DataAccessException e) {
            // It is written: saying otherwise would be wrong. The poller reads it as soon as it can.
            log.debug("A change was written, and could not be read at once", e);
        }
    }

    long now() {
        return Micros.of(policies.clock().instant());
    }

    void requireRight(LimitVersion added) {
        requireRight(PolicyCompiler.LIMITS_TABLE, added, policies.compiledWith(added));
    }

    void requireRight(RuleVersion added) {
        requireRight(PolicyCompiler.RULES_TABLE, added, policies.compiledWith(added));
    }

    private void requireRight(String table, StoredVersion added, Compiled then) {
        if (then.mistakes().isEmpty()) {
            return;
        }
        Set<String> before =
                policies.compiled().problems().stream().map(Writes::row).collect(Collectors.toSet());
        List<IllegalArgumentException> consequences = new ArrayList<>();
        for (Map.Entry<Problem, IllegalArgumentException> mistake :
                then.mistakes().entrySet()) {
            String row = row(mistake.getKey());
            if (row.equals(row(table, added.name(), added.version()))) {
                throw mistake.getValue();
            }
            if (!before.contains(row)) {
                consequences.add(mistake.getValue());
            }
        }
        if (!consequences.isEmpty()) {
            throw consequence(added, consequences);
        }
    }

    private static IllegalArgumentException consequence(
            StoredVersion added, List<IllegalArgumentException> consequences) {
        List<String> messages = consequences.stream()
                .map(mistake -> String.valueOf(mistake.getMessage()))
                .toList();
        return new IllegalArgumentException(
                "the change of '" + added.name() + "' would make wrong what needs it; change that first: "
                        + String.join("; ", messages),
                consequences.get(0));
    }

    private static String row(Problem problem) {
        return row(problem.table(), problem.name(), problem.version());
    }

    private static String row(String table, String name, @Nullable Integer version) {
        return table + '/' + name + '/' + version;
    }

    static int next(List<? extends StoredVersion> newestFirst) {
        return newestFirst.isEmpty() ? 1 : newestFirst.get(0).version() + 1;
    }

    static <V extends StoredVersion> V version(List<V> versions, String what, String name, int number) {
        for (V version : versions) {
            if (version.version() == number) {
                return version;
            }
        }
        throw new IllegalArgumentException(what + " '" + name + "' has no version " + number + "; name one of "
                + versions.stream().map(StoredVersion::version).sorted().toList());
    }

    /** A tier of which nothing speaks is a slip of the pen, and would have no quota at all. */
    void requireTier(@Nullable String tier) {
        Set<String> known = policies.current().tierNames();
        if (tier != null && !known.contains(tier)) {
            throw new IllegalArgumentException("the tier is '" + tier + "', of which no quota, limit, rule or authority"
                    + " speaks; write one of " + String.join(", ", known));
        }
    }
}
