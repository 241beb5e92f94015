package dev.ratelimit.admin.version;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limits;
import dev.ratelimit.admin.version.EffectivePolicy.Versions;
import dev.ratelimit.caller.Tiers;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.TestSeed;
import java.time.Instant;
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

    private final Map<String, List<Version<Map<String, String>>>> limits = new LinkedHashMap<>();
    private final Map<String, List<Version<Rule>>> rules = new LinkedHashMap<>();
    private long sequence;

    private static Map<String, String> window(long maxRequests) {
        return Map.of("algorithm", "fixed-window", "max-requests", String.valueOf(maxRequests), "window", "1h");
    }

    private static PolicyConfiguration configured(Map<String, Map<String, String>> limits, Rule... rules) {
        return new PolicyConfiguration(
                limits, List.of(rules), Tiers.NONE, MatchMode.ALL, PathPatternParser.defaultInstance);
    }

    /** A newer version than all before; without a definition, one that says that the configuration applies again. */
    private void store(String limit, Map<String, String> definition, long expiresAt) {
        Change change = expiresAt == 0 ? BY : BY.until(Micros.toInstant(expiresAt));
        Version.State state = definition == null ? Version.State.REMOVED : Version.State.SET;
        store(limits, limit, state, definition, change);
    }

    private void store(Rule rule, Version.State state) {
        store(rules, rule.name(), state, rule, BY);
    }

    private <T> void store(
            Map<String, List<Version<T>>> all, String name, Version.State state, T content, Change change) {
        List<Version<T>> versions = all.computeIfAbsent(name, none -> new ArrayList<>());
        versions.add(
                0, new Version<>(name, versions.size() + 1, state, content, null, change, Instant.EPOCH, ++sequence));
    }

    private EffectivePolicy compile(PolicyConfiguration configured) {
        return compile(configured, Micros.toInstant(NOW));
    }

    private EffectivePolicy compile(PolicyConfiguration configured, Instant now) {
        return PolicyCompiler.compile(configured, new Versions(limits, rules), now);
    }

    private static Map<String, Long> capacities(EffectivePolicy compiled) {
        Limits limits = compiled.policy().limits();
        return limits.names().stream()
                .collect(Collectors.toMap(name -> name, name -> limits.get(name).capacity()));
    }

    /** The newest valid version of each name is in force, whatever else is stored. */
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
                            store(name, window(-most), expiresAt);
                            if (!expired) {
                                brokenOfName.add(name + " " + version);
                            }
                        }
                        default -> {
                            store(name, window(most), expiresAt);
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

            EffectivePolicy compiled = compile(configured(ofConfiguration));

            assertThat(capacities(compiled)).as("%s history %d", seed, history).isEqualTo(expected);
            assertThat(compiled.problems())
                    .as("%s history %d", seed, history)
                    .extracting(problem -> problem.name() + " " + problem.version())
                    .containsExactlyInAnyOrderElementsOf(broken);
            assertThat(capacities(compile(
                            configured(ofConfiguration), compiled.nextExpiry().minusNanos(1_000))))
                    .as("%s history %d, just before it is to be made again", seed, history)
                    .isEqualTo(expected);
        }
    }

    @Test
    void ofALimitAndItsBaseTheOneThatIsWrongIsSkipped() {
        store("child", Map.of("base", "parent", "max-requests", "none"), 0);
        store("parent", window(7), 0);

        EffectivePolicy compiled = compile(configured(Map.of("parent", window(3), "child", Map.of("base", "parent"))));

        assertThat(compiled.policy().limits().get("parent").capacity()).isEqualTo(7);
        assertThat(compiled.policy().limits().get("child").capacity()).isEqualTo(7);
        assertThat(compiled.problems()).extracting(Problem::name).containsExactly("child");
    }

    @Test
    void aBaseThatMakesAConfiguredLimitWrongIsSkipped() {
        store("parent", Map.of("algorithm", "token-bucket", "burst", "5", "refill", "1/s"), 0);

        EffectivePolicy compiled = compile(
                configured(Map.of("parent", window(3), "child", Map.of("base", "parent", "max-requests", "2"))));

        assertThat(compiled.policy().limits().get("parent").capacity()).isEqualTo(3);
        assertThat(compiled.policy().limits().get("child").capacity()).isEqualTo(2);
        assertThat(compiled.problems()).extracting(Problem::name).containsExactly("parent");
    }

    @Test
    void aRuleFallsBackToTheVersionWhoseLimitIsThere() {
        store("kept", window(1), 0);
        store(Rule.named("rule").limits("kept").build(), Version.State.SET);
        store(Rule.named("rule").limits("gone").build(), Version.State.SET);

        EffectivePolicy compiled = compile(configured(Map.of()));

        assertThat(compiled.policy().rules().rules()).extracting(Rule::limits).containsExactly(List.of("kept"));
        assertThat(compiled.policy().ruleVersion("rule")).isEqualTo(1);
        assertThat(compiled.problems())
                .extracting(Problem::toString)
                .containsExactly("rate_limit_rules, rule, version 2: rule 'rule': limits is 'gone'; name one of kept");
    }

    @Test
    void aRuleThatIsDisabledHidesTheConfiguredOne() {
        Rule rule = Rule.named("rule").limits("api").build();
        store(rule, Version.State.DISABLED);

        EffectivePolicy compiled = compile(configured(Map.of("api", window(1)), rule));

        assertThat(compiled.policy().rules().rules()).isEmpty();
        assertThat(compiled.policy().ruleVersion("rule")).isNull();
        assertThat(compiled.rules()).containsOnlyKeys("rule");
    }

    @Test
    void storedRuleWithoutAFailurePolicyFollowsTheSettingOfTheApplication() {
        PolicyConfiguration closed = new PolicyConfiguration(
                Map.of("api", window(5)),
                List.of(Rule.named("configured").limits("api").build()),
                Tiers.NONE,
                MatchMode.ALL,
                PathPatternParser.defaultInstance,
                FailurePolicy.CLOSED);
        Rule unset = Rule.named("unset").limits("api").build();
        store(unset, Version.State.SET);
        store(Rule.named("open").limits("api").onFailure(FailurePolicy.OPEN).build(), Version.State.SET);

        Map<String, FailurePolicy> inForce = compile(closed).policy().rules().rules().stream()
                .collect(Collectors.toMap(Rule::name, Rule::onFailure));

        assertThat(inForce)
                .containsOnly(
                        Map.entry("configured", FailurePolicy.CLOSED),
                        Map.entry("unset", FailurePolicy.CLOSED),
                        Map.entry("open", FailurePolicy.OPEN));
        assertThat(unset.properties()).as("the history shows what was written").doesNotContainKey("on-failure");
    }
}
