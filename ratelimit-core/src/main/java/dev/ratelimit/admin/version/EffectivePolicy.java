package dev.ratelimit.admin.version;

import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The policy that follows from the configuration and the stored versions at one moment, and the versions it is made of.
 * Immutable.
 */
public final class EffectivePolicy {

    /**
     * All stored versions.
     *
     * @param limits the versions of each limit by name, the newest first
     * @param rules the versions of each rule by name, the newest first
     */
    public record Versions(
            Map<String, List<Version<Map<String, String>>>> limits, Map<String, List<Version<Rule>>> rules) {

        public static final Versions NONE = new Versions(Map.of(), Map.of());

        public Versions {
            limits = Collections.unmodifiableMap(new LinkedHashMap<>(limits));
            rules = Collections.unmodifiableMap(new LinkedHashMap<>(rules));
        }

        Versions withLimit(Version<Map<String, String>> added) {
            return new Versions(with(limits, added), rules);
        }

        Versions withRule(Version<Rule> added) {
            return new Versions(limits, with(rules, added));
        }

        private static <T> Map<String, List<Version<T>>> with(Map<String, List<Version<T>>> all, Version<T> added) {
            List<Version<T>> newestFirst = new ArrayList<>();
            newestFirst.add(added);
            newestFirst.addAll(all.getOrDefault(added.name(), List.of()));
            Map<String, List<Version<T>>> with = new LinkedHashMap<>(all);
            with.put(added.name(), newestFirst);
            return with;
        }
    }

    private final PolicyConfiguration configuration;
    private final Versions versions;
    private final Policy policy;
    private final Map<String, Version<Map<String, String>>> limits;
    private final Map<String, Version<Rule>> rules;
    private final Map<Problem, IllegalArgumentException> mistakes;
    private final Instant nextExpiry;

    EffectivePolicy(
            PolicyConfiguration configuration,
            Versions versions,
            Policy policy,
            Map<String, Version<Map<String, String>>> limits,
            Map<String, Version<Rule>> rules,
            Map<Problem, IllegalArgumentException> mistakes,
            Instant nextExpiry) {
        this.configuration = configuration;
        this.versions = versions;
        this.policy = policy;
        this.limits = Collections.unmodifiableMap(limits);
        this.rules = Collections.unmodifiableMap(rules);
        this.mistakes = mistakes;
        this.nextExpiry = nextExpiry;
    }

    /**
     * Compiles a policy. An invalid stored version is skipped and becomes a {@linkplain #problems() problem}.
     *
     * @throws IllegalArgumentException if the configuration is invalid
     */
    public static EffectivePolicy of(PolicyConfiguration configuration, Versions versions, Instant now) {
        return PolicyCompiler.compile(configuration, versions, now);
    }

    public PolicyConfiguration configuration() {
        return configuration;
    }

    public Policy policy() {
        return policy;
    }

    /** The stored limits that are in force, by name. */
    public Map<String, Version<Map<String, String>>> limits() {
        return limits;
    }

    /** The stored rules that are in force or disabled, by name. */
    public Map<String, Version<Rule>> rules() {
        return rules;
    }

    /** The limits that are switched off; {@link LimitBook#ALL} among them if all are. */
    public Set<String> off() {
        return policy.limits() instanceof LimitBook book ? book.off() : Set.of();
    }

    /** The stored versions that are invalid and skipped. */
    public List<Problem> problems() {
        return List.copyOf(mistakes.keySet());
    }

    /** When the policy changes because a version expires; {@link Instant#MAX} for never. */
    public Instant nextExpiry() {
        return nextExpiry;
    }

    /**
     * Refuses versions of one limit if the last one is invalid, or would invalidate its dependents.
     *
     * @param added in the order in which they are stored; at least one
     * @throws IllegalArgumentException that says why
     */
    public void requireValidLimit(List<Version<Map<String, String>>> added, Instant now) {
        Versions then = versions;
        for (Version<Map<String, String>> version : added) {
            then = then.withLimit(version);
        }
        requireValid(PolicyCompiler.LIMITS_TABLE, added.get(added.size() - 1), of(configuration, then, now));
    }

    /** Refuses versions of one rule, see {@link #requireValidLimit}. */
    public void requireValidRule(List<Version<Rule>> added, Instant now) {
        Versions then = versions;
        for (Version<Rule> version : added) {
            then = then.withRule(version);
        }
        requireValid(PolicyCompiler.RULES_TABLE, added.get(added.size() - 1), of(configuration, then, now));
    }

    private void requireValid(String table, Version<?> added, EffectivePolicy then) {
        if (then.mistakes.isEmpty()) {
            return;
        }
        Set<String> before =
                mistakes.keySet().stream().map(EffectivePolicy::row).collect(Collectors.toSet());
        List<IllegalArgumentException> consequences = new ArrayList<>();
        then.mistakes.forEach((problem, mistake) -> {
            String row = row(problem);
            if (row.equals(row(table, added.name(), added.number()))) {
                throw mistake;
            }
            if (!before.contains(row)) {
                consequences.add(mistake);
            }
        });
        if (!consequences.isEmpty()) {
            throw new IllegalArgumentException(
                    "the change of '" + added.name() + "' would invalidate its dependents; change them first: "
                            + consequences.stream()
                                    .map(Throwable::getMessage)
                                    .map(String::valueOf)
                                    .collect(Collectors.joining("; ")),
                    consequences.get(0));
        }
    }

    private static String row(Problem problem) {
        return row(problem.table(), problem.name(), problem.version());
    }

    private static String row(String table, String name, @Nullable Integer version) {
        return table + '/' + name + '/' + version;
    }
}
