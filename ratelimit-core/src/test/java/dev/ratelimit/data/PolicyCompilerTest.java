package dev.ratelimit.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limits;
import dev.ratelimit.admin.Change;
import dev.ratelimit.admin.PolicyCompiler;
import dev.ratelimit.admin.PolicyCompiler.Compiled;
import dev.ratelimit.admin.Problem;
import dev.ratelimit.policy.Configured;
import dev.ratelimit.policy.MatchMode;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.Tiers;
import dev.ratelimit.testing.TestSeed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.web.util.pattern.PathPatternParser;

class PolicyCompilerTest {

    private static final long NOW = 1_000;
    private static final Change BY = Change.by("test");

    private final Map<String, List<LimitVersion>> limits = new LinkedHashMap<>();
    private final Map<String, List<RuleVersion>> rules = new LinkedHashMap<>();
    private long id;

    private static Map<String, String> window(long maxRequests) {
        return Map.of("algorithm", "fixed-window", "max-requests", String.valueOf(maxRequests), "window", "1h");
    }

    private static Configured configured(Map<String, Map<String, String>> limits, Rule... rules) {
        return new Configured(limits, List.of(rules), Tiers.NONE, MatchMode.ALL, PathPatternParser.defaultInstance);
    }

    /** A newer version than all before; without a definition, one that says that the configuration applies again. */
    private void store(String limit, String definition, long expiresAt) {
        List<LimitVersion> versions = limits.computeIfAbsent(limit, name -> new ArrayList<>());
        versions.add(0, new LimitVersion(++id, limit, versions.size() + 1, definition, "test", 0, expiresAt, null));
    }

    private void store(RuleVersion row) {
        List<RuleVersion> versions = rules.computeIfAbsent(row.ruleName(), name -> new ArrayList<>());
        RuleVersion copy = StoredRule.copy(row, versions.size() + 1, row.enabled(), BY, 0);
        versions.add(
                0,
                new RuleVersion(
                        ++id,
                        copy.ruleName(),
                        copy.version(),
                        copy.removed(),
                        copy.enabled(),
                        copy.priority(),
                        copy.userTier(),
                        copy.endpointPattern(),
                        copy.httpMethod(),
                        copy.ipRange(),
                        copy.authority(),
                        copy.apiKey(),
                        copy.limits(),
                        copy.subjectKey(),
                        copy.action(),
                        copy.responseStatus(),
                        copy.responseMessage(),
                        copy.retryAfterSeconds(),
                        copy.onFailure(),
                        copy.changedBy(),
                        copy.changedAt(),
                        copy.expiresAt(),
                        copy.reason()));
    }

    private Compiled compile(Configured configured) {
        return PolicyCompiler.compile(configured, limits, rules, NOW);
    }

    private static Map<String, Long> capacities(Compiled compiled) {
        Limits limits = compiled.policy().limits();
        return limits.names().stream()
                .collect(Collectors.toMap(name -> name, name -> limits.get(name).capacity()));
    }

    /** What is in force of each name is the newest version that is right, whatever else is stored. */
    @Test
    void randomHistoriesComeToTheNewestVersionThatIsRight() {
        TestSeed seed = TestSeed.of("randomHistoriesComeToTheNewestVersionThatIsRight");
        for (int history = 0; history < 300; history++) {
            RandomGenerator random = seed.history(history);
            limits.clear();
            Map<String, Map<String, String>> ofConfiguration = new HashMap<>();
            Map<String, Long> expected = new HashMap<>();
            Set<String> broken = new HashSet<>();
            for (int n = 0; n < 5; n++) {
                String name = "limit" + n;
                Long inForce = null;
                if (random.nextBoolean()) {
                    inForce = 1 + random.nextLong(1_000);
                    ofConfiguration.put(name, window(inForce));
                }
                Long configured = inForce;
                List<String> brokenOfName = new ArrayList<>();
                int versions = random.nextInt(5);
                for (int version = 1; version <= versions; version++) {
                    long most = 1 + random.nextLong(1_000);
                    long expiresAt = random.nextInt(3) == 0 ? 1 + random.nextLong(2 * NOW) : 0;
                    boolean expired = expiresAt != 0 && expiresAt <= NOW;
                    switch (random.nextInt(4)) {
                        case 0 -> {
                            store(name, null, expiresAt);
                            inForce = expired ? inForce : configured;
                            if (!expired) {
                                brokenOfName.clear();
                            }
                        }
                        case 1 -> {
                            store(name, "algorithm: fixed-window\nmax-requests: -" + most + "\nwindow: 1h", expiresAt);
                            if (!expired) {
                                brokenOfName.add(name + " " + version);
                            }
                        }
                        default -> {
                            store(name, Definition.text(name, window(most)), expiresAt);
                            if (!expired) {
                                inForce = most;
                                brokenOfName.clear();
                            }
                        }
                    }
                }
                if (inForce != null) {
                    expected.put(name, inForce);
                }
                broken.addAll(brokenOfName);
            }

            Compiled compiled = compile(configured(ofConfiguration));

            assertThat(capacities(compiled)).as("%s history %d", seed, history).isEqualTo(expected);
            assertThat(compiled.problems())
                    .as("%s history %d", seed, history)
                    .extracting(problem -> problem.name() + " " + problem.version())
                    .containsExactlyInAnyOrderElementsOf(broken);
            assertThat(capacities(PolicyCompiler.compile(
                            configured(ofConfiguration), limits, rules, compiled.nextExpiry() - 1)))
                    .as("%s history %d, just before it is to be made again", seed, history)
                    .isEqualTo(expected);
        }
    }

    @Test
    void ofALimitAndItsBaseTheOneThatIsWrongIsSkipped() {
        store("child", "base: parent\nmax-requests: none", 0);
        store("parent", Definition.text("parent", window(7)), 0);

        Compiled compiled = compile(configured(Map.of("parent", window(3), "child", Map.of("base", "parent"))));

        assertThat(compiled.policy().limits().get("parent").capacity()).isEqualTo(7);
        assertThat(compiled.policy().limits().get("child").capacity()).isEqualTo(7);
        assertThat(compiled.problems()).extracting(Problem::name).containsExactly("child");
    }

    @Test
    void aBaseThatMakesAConfiguredLimitWrongIsSkipped() {
        store("parent", "algorithm: token-bucket\nburst: 5\nrefill: 1/s", 0);

        Compiled compiled = compile(
                configured(Map.of("parent", window(3), "child", Map.of("base", "parent", "max-requests", "2"))));

        assertThat(compiled.policy().limits().get("parent").capacity()).isEqualTo(3);
        assertThat(compiled.policy().limits().get("child").capacity()).isEqualTo(2);
        assertThat(compiled.problems()).extracting(Problem::name).containsExactly("parent");
    }

    @Test
    void aRuleFallsBackToTheVersionWhoseLimitIsThere() {
        store("kept", Definition.text("kept", window(1)), 0);
        store(StoredRule.write(Rule.named("rule").limits("kept").build(), 1, BY, 0));
        store(StoredRule.write(Rule.named("rule").limits("gone").build(), 2, BY, 0));

        Compiled compiled = compile(configured(Map.of()));

        assertThat(compiled.policy().rules().rules()).extracting(Rule::limits).containsExactly(List.of("kept"));
        assertThat(compiled.problems())
                .extracting(Problem::toString)
                .containsExactly("rate_limit_rules, rule, version 2: rule 'rule': limits is 'gone'; name one of kept");
    }

    @Test
    void aRuleThatIsDisabledHidesTheConfiguredOne() {
        Rule rule = Rule.named("rule").limits("api").build();
        store(StoredRule.disabled(rule, 1, BY, 0));

        Compiled compiled = compile(configured(Map.of("api", window(1)), rule));

        assertThat(compiled.policy().rules().rules()).isEmpty();
        assertThat(compiled.rules()).containsOnlyKeys("rule");
    }
}
