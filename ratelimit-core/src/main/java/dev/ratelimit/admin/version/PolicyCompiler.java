package dev.ratelimit.admin.version;

import dev.ratelimit.admin.version.EffectivePolicy.Versions;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook;
import dev.ratelimit.setting.InvalidLimitException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compiles a policy from the configuration and the stored versions.
 *
 * <ol>
 *   <li>Each name has choices: its stored versions that have not expired, the newest first, down to one that is
 *       {@linkplain Version.State#REMOVED removed}; then the configuration. A stored limit may override single properties
 *       of the configured one.
 *   <li>The first choice of each limit is tried. If the limits are invalid, one stored version is reported: the newest
 *       whose absence makes them valid. The next choice of its name is tried.
 *   <li>The same is done for each rule on its own, with these limits.
 * </ol>
 *
 * So an invalid version affects nothing but itself.
 */
final class PolicyCompiler {

    private record LimitChoice(@Nullable Version<Map<String, String>> version, Map<String, String> definition) {}

    static final String LIMITS_TABLE = "rate_limit_configs";
    static final String RULES_TABLE = "rate_limit_rules";

    private final PolicyConfiguration configuration;
    private final Versions versions;
    private final Instant now;
    private final Map<String, Deque<LimitChoice>> choices = new LinkedHashMap<>();
    private final Map<Problem, IllegalArgumentException> mistakes = new LinkedHashMap<>();
    private Instant nextExpiry = Instant.MAX;

    private PolicyCompiler(PolicyConfiguration configuration, Versions versions, Instant now) {
        this.configuration = configuration;
        this.versions = versions;
        this.now = now;
    }

    static EffectivePolicy compile(PolicyConfiguration configuration, Versions versions, Instant now) {
        return new PolicyCompiler(configuration, versions, now).compile();
    }

    private EffectivePolicy compile() {
        collectLimits();
        LimitBook book = limitBook();
        Map<String, Version<Map<String, String>>> limitsInForce = new HashMap<>();
        choices.forEach((name, ofName) -> {
            LimitChoice chosen = ofName.peek();
            if (chosen != null && chosen.version != null) {
                limitsInForce.put(name, chosen.version);
            }
        });
        Map<String, Version<Rule>> rulesInForce = new LinkedHashMap<>();
        RuleBook ruleBook = ruleBook(book, rulesInForce);
        return new EffectivePolicy(
                configuration,
                versions,
                new Policy(book, ruleBook, configuration.tiers(), versionNumbers(rulesInForce)),
                limitsInForce,
                rulesInForce,
                mistakes,
                nextExpiry);
    }

    private static Map<String, Integer> versionNumbers(Map<String, Version<Rule>> rules) {
        return rules.values().stream()
                .filter(rule -> rule.state() == Version.State.SET)
                .collect(Collectors.toMap(Version::name, Version::number));
    }

    private void collectLimits() {
        Set<String> names = new LinkedHashSet<>(configuration.limits().keySet());
        names.addAll(versions.limits().keySet());
        for (String name : names) {
            Deque<LimitChoice> ofName = new ArrayDeque<>();
            for (Version<Map<String, String>> version :
                    untilRemoved(versions.limits().getOrDefault(name, List.of()))) {
                Map<String, String> definition = version.content();
                if (version.state() == Version.State.BROKEN) {
                    reportBroken(LIMITS_TABLE, version);
                } else if (definition != null) {
                    ofName.add(new LimitChoice(version, configuration.completed(name, definition)));
                }
            }
            Map<String, String> ofConfiguration = configuration.limits().get(name);
            if (ofConfiguration != null) {
                ofName.add(new LimitChoice(null, ofConfiguration));
            }
            choices.put(name, ofName);
        }
    }

    /** The versions that may be in force: not expired, and newer than the last removal. */
    private <T> List<Version<T>> untilRemoved(List<Version<T>> newestFirst) {
        List<Version<T>> layers = Layers.of(newestFirst, now);
        for (Version<T> version : layers) {
            Instant expiresAt = version.expiresAt();
            if (expiresAt != null && expiresAt.isBefore(nextExpiry)) {
                nextExpiry = expiresAt;
            }
        }
        return layers.stream()
                .filter(version -> version.state() != Version.State.REMOVED)
                .toList();
    }

    private LimitBook limitBook() {
        while (true) {
            try {
                return LimitBook.of(definitions());
            } catch (InvalidLimitException e) {
                Version<Map<String, String>> culprit = culprit(e);
                if (culprit == null) {
                    throw e;
                }
                report(LIMITS_TABLE, culprit, e);
                choicesOf(culprit.name()).remove();
            }
        }
    }

    private Deque<LimitChoice> choicesOf(String name) {
        return choices.getOrDefault(name, new ArrayDeque<>());
    }

    private Map<String, Map<String, String>> definitions() {
        Map<String, Map<String, String>> definitions = new LinkedHashMap<>();
        choices.forEach((name, ofName) -> {
            LimitChoice chosen = ofName.peek();
            if (chosen != null) {
                definitions.put(name, chosen.definition);
            }
        });
        return definitions;
    }

    /** The stored version that makes a limit invalid: its own, or that of a limit it is based on. */
    private @Nullable Version<Map<String, String>> culprit(InvalidLimitException e) {
        String failing = e.limit();
        if (failing == null) {
            return null;
        }
        List<Version<Map<String, String>>> suspects = lineage(failing).stream()
                .flatMap(name -> choicesOf(name).stream().limit(1))
                .flatMap(choice -> Stream.ofNullable(choice.version))
                .sorted(Comparator.<Version<Map<String, String>>>comparingLong(Version::sequence)
                        .reversed())
                .toList();
        for (Version<Map<String, String>> suspect : suspects) {
            if (isValidWithout(suspect, failing)) {
                return suspect;
            }
        }
        return suspects.isEmpty() ? null : suspects.get(0);
    }

    /** The limit and all limits it is based on. */
    private Set<String> lineage(String limit) {
        Set<String> lineage = new LinkedHashSet<>();
        String name = limit;
        while (name != null && lineage.add(name)) {
            LimitChoice chosen = choicesOf(name).peek();
            name = chosen == null ? null : chosen.definition.get("base");
        }
        return lineage;
    }

    /** Whether the limit would be valid with the next choice in place of the suspect. */
    private boolean isValidWithout(Version<?> suspect, String failing) {
        Deque<LimitChoice> ofSuspect = choicesOf(suspect.name());
        LimitChoice taken = ofSuspect.remove();
        try {
            Map<String, Map<String, String>> all = definitions();
            Map<String, Map<String, String>> needed = new LinkedHashMap<>();
            for (String name : lineage(failing)) {
                Map<String, String> definition = all.get(name);
                if (definition != null) {
                    needed.put(name, definition);
                }
            }
            LimitBook unused = LimitBook.of(needed);
            return true;
        } catch (InvalidLimitException e) {
            return false;
        } finally {
            ofSuspect.addFirst(taken);
        }
    }

    private RuleBook ruleBook(LimitBook limits, Map<String, Version<Rule>> inForce) {
        List<Rule> stored = new ArrayList<>();
        versions.rules().values().stream()
                .filter(ofName -> !ofName.isEmpty())
                // A changed rule keeps its place among rules of equal priority.
                .sorted(Comparator.comparingLong(
                        ofName -> ofName.get(ofName.size() - 1).sequence()))
                .forEach(ofName -> {
                    Version<Rule> chosen = chooseRule(ofName, limits);
                    if (chosen != null) {
                        inForce.put(chosen.name(), chosen);
                        Rule rule = chosen.content();
                        if (rule != null && chosen.state() == Version.State.SET) {
                            stored.add(rule);
                        }
                    }
                });
        List<Rule> all = new ArrayList<>();
        for (Rule rule : configuration.rules()) {
            if (!inForce.containsKey(rule.name())) {
                all.add(rule);
            }
        }
        all.addAll(stored);
        return configuration.ruleBook(all, limits);
    }

    /** The newest version that is disabled or valid, or {@code null}. */
    private @Nullable Version<Rule> chooseRule(List<Version<Rule>> newestFirst, LimitBook limits) {
        for (Version<Rule> version : untilRemoved(newestFirst)) {
            Rule rule = version.content();
            if (version.state() == Version.State.DISABLED) {
                return version;
            }
            if (version.state() == Version.State.BROKEN || rule == null) {
                reportBroken(RULES_TABLE, version);
                continue;
            }
            try {
                RuleBook unused = configuration.ruleBook(List.of(rule), limits);
                return version;
            } catch (IllegalArgumentException e) {
                report(RULES_TABLE, version, e);
            }
        }
        return null;
    }

    private void reportBroken(String table, Version<?> version) {
        report(table, version, new IllegalArgumentException(version.problem()));
    }

    private void report(String table, Version<?> version, IllegalArgumentException mistake) {
        mistakes.put(
                new Problem(table, version.name(), version.number(), String.valueOf(mistake.getMessage())), mistake);
    }
}
