package dev.ratelimit.admin;

import dev.ratelimit.InvalidLimitException;
import dev.ratelimit.data.Definition;
import dev.ratelimit.data.LimitVersion;
import dev.ratelimit.data.RuleVersion;
import dev.ratelimit.data.StoredRule;
import dev.ratelimit.data.StoredVersion;
import dev.ratelimit.policy.Configured;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.Policy;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes a policy of what is configured and what is stored.
 *
 * <ol>
 *   <li>For each name there are choices: the stored versions that have not expired, the newest first, down to one that
 *       says that the configuration applies again; then what is configured.
 *   <li>The first choice of each limit is tried. If the limits cannot be made, the stored version without which they
 *       can be, the newest if there are several, is reported, and the next choice of its name is tried.
 *   <li>Likewise the rules, each by itself, with these limits.
 * </ol>
 *
 * So one row that cannot be right costs nothing but itself.
 */
public final class PolicyCompiler {

    /**
     * What came of it.
     *
     * @param limits the stored limits that are in force
     * @param rules the stored rules that are in force, those that are disabled included
     * @param mistakes the rows that were skipped, and why
     * @param nextExpiry when it will be different without any change, in microseconds; {@link Long#MAX_VALUE} for never
     */
    public record Compiled(
            Policy policy,
            Map<String, LimitVersion> limits,
            Map<String, RuleVersion> rules,
            Map<Problem, IllegalArgumentException> mistakes,
            long nextExpiry) {

        public List<Problem> problems() {
            return List.copyOf(mistakes.keySet());
        }
    }

    private record LimitChoice(@Nullable LimitVersion version, Map<String, String> definition) {}

    public static final String LIMITS_TABLE = "rate_limit_configs";
    public static final String RULES_TABLE = "rate_limit_rules";

    private final Configured configured;
    private final long now;
    private final Map<String, Deque<LimitChoice>> choices = new LinkedHashMap<>();
    private final Map<Problem, IllegalArgumentException> mistakes = new LinkedHashMap<>();
    private long nextExpiry = Long.MAX_VALUE;

    private PolicyCompiler(Configured configured, long now) {
        this.configured = configured;
        this.now = now;
    }

    /**
     * @param limits versions by name, the newest first
     * @param rules versions by name, the newest first
     */
    public static Compiled compile(
            Configured configured,
            Map<String, List<LimitVersion>> limits,
            Map<String, List<RuleVersion>> rules,
            long now) {
        return new PolicyCompiler(configured, now).compile(limits, rules);
    }

    private Compiled compile(Map<String, List<LimitVersion>> limits, Map<String, List<RuleVersion>> rules) {
        collectLimits(limits);
        LimitBook book = limitBook();
        Map<String, LimitVersion> limitsInForce = new HashMap<>();
        choices.forEach((name, ofName) -> {
            LimitChoice chosen = ofName.peek();
            if (chosen != null && chosen.version != null) {
                limitsInForce.put(name, chosen.version);
            }
        });
        Map<String, RuleVersion> rulesInForce = new LinkedHashMap<>();
        RuleBook ruleBook = ruleBook(rules, book, rulesInForce);
        return new Compiled(
                new Policy(book, ruleBook, configured.tiers()), limitsInForce, rulesInForce, mistakes, nextExpiry);
    }

    private void collectLimits(Map<String, List<LimitVersion>> stored) {
        Set<String> names = new LinkedHashSet<>(configured.limits().keySet());
        names.addAll(stored.keySet());
        for (String name : names) {
            Deque<LimitChoice> ofName = new ArrayDeque<>();
            for (LimitVersion version : untilRemoved(stored.getOrDefault(name, List.of()))) {
                try {
                    String definition = version.definition();
                    if (definition != null) {
                        ofName.add(new LimitChoice(version, Definition.parse(name, definition)));
                    }
                } catch (InvalidLimitException e) {
                    report(LIMITS_TABLE, version, e);
                }
            }
            Map<String, String> ofConfiguration = configured.limits().get(name);
            if (ofConfiguration != null) {
                ofName.add(new LimitChoice(null, ofConfiguration));
            }
            choices.put(name, ofName);
        }
    }

    /** The versions that may be in force: not expired, and none below one that says that the configuration applies. */
    private <V extends StoredVersion> List<V> untilRemoved(List<V> newestFirst) {
        List<V> live = new ArrayList<>(1);
        for (V version : newestFirst) {
            if (version.hasExpired(now)) {
                continue;
            }
            if (version.expiresAt() != 0) {
                nextExpiry = Math.min(nextExpiry, version.expiresAt());
            }
            if (version.removed()) {
                break;
            }
            live.add(version);
        }
        return live;
    }

    private LimitBook limitBook() {
        while (true) {
            try {
                return LimitBook.of(definitions());
            } catch (InvalidLimitException e) {
                LimitVersion culprit = culprit(e);
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

    /** The stored version that a limit fails because of: its own, or that of a limit that it is based on. */
    private @Nullable LimitVersion culprit(InvalidLimitException e) {
        String failing = e.limit();
        if (failing == null) {
            return null;
        }
        List<LimitVersion> suspects = lineage(failing).stream()
                .flatMap(name -> choicesOf(name).stream().limit(1))
                .flatMap(choice -> Stream.ofNullable(choice.version))
                .sorted(Comparator.comparing(PolicyCompiler::age).reversed())
                .toList();
        for (LimitVersion suspect : suspects) {
            if (isMadeWithout(suspect, failing)) {
                return suspect;
            }
        }
        return suspects.isEmpty() ? null : suspects.get(0);
    }

    /** What is not stored yet is the newest. */
    private static long age(StoredVersion version) {
        Long id = version.id();
        return id == null ? Long.MAX_VALUE : id;
    }

    /** The limit and all that it is based on. */
    private Set<String> lineage(String limit) {
        Set<String> lineage = new LinkedHashSet<>();
        String name = limit;
        while (name != null && lineage.add(name)) {
            LimitChoice chosen = choicesOf(name).peek();
            name = chosen == null ? null : chosen.definition.get("base");
        }
        return lineage;
    }

    /** Whether the limit could be made if the next choice were taken in place of the suspect. */
    private boolean isMadeWithout(LimitVersion suspect, String failing) {
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

    private RuleBook ruleBook(
            Map<String, List<RuleVersion>> stored, LimitBook limits, Map<String, RuleVersion> inForce) {
        List<Rule> ofConfiguration = new ArrayList<>();
        List<Rule> ofDatabase = new ArrayList<>();
        stored.values().stream()
                .filter(versions -> !versions.isEmpty())
                // A rule keeps its place among those of equal priority when it is changed.
                .sorted(Comparator.comparing(versions -> age(versions.get(versions.size() - 1))))
                .forEach(versions -> {
                    for (RuleVersion version : untilRemoved(versions)) {
                        if (!version.enabled()) {
                            inForce.put(version.name(), version);
                            return;
                        }
                        try {
                            Rule rule = StoredRule.read(version);
                            RuleBook unused =
                                    RuleBook.of(List.of(rule), limits, configured.mode(), configured.parser());
                            ofDatabase.add(rule);
                            inForce.put(version.name(), version);
                            return;
                        } catch (IllegalArgumentException e) {
                            report(RULES_TABLE, version, e);
                        }
                    }
                });
        for (Rule rule : configured.rules()) {
            if (!inForce.containsKey(rule.name())) {
                ofConfiguration.add(rule);
            }
        }
        ofConfiguration.addAll(ofDatabase);
        return RuleBook.of(ofConfiguration, limits, configured.mode(), configured.parser());
    }

    private void report(String table, StoredVersion version, IllegalArgumentException mistake) {
        mistakes.put(
                new Problem(table, version.name(), version.version(), String.valueOf(mistake.getMessage())), mistake);
    }
}
