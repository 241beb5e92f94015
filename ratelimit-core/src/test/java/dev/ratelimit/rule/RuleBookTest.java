package dev.ratelimit.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.testing.TestSeed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.pattern.PathPatternParser;

class RuleBookTest {

    @Test
    void rulesOfHigherPriorityComeFirstAndEqualOnesKeepTheirOrder() {
        RuleBook book = RuleBook.of(List.of(
                rule("low", 1, "/api/**"),
                rule("first", 5, "/**"),
                rule("second", 5, "/api/{id}"),
                rule("high", 9, "/api/x")));

        assertThat(names(book, "GET", "/api/x")).containsExactly("high", "first", "second", "low");
        assertThat(names(book, "GET", "/other")).containsExactly("first");
    }

    @Test
    void getCoversHeadAndNothingElse() {
        RuleBook book = RuleBook.of(
                List.of(new Rule("reads", 0, "/api/**", Set.of("GET"), "ip", List.of("l"), FailurePolicy.OPEN)));

        assertThat(names(book, "HEAD", "/api/x")).containsExactly("reads");
        assertThat(names(book, "POST", "/api/x")).isEmpty();
    }

    @Test
    void pathIsMatchedAsItIsDecodedAndWithoutItsParameters() {
        RuleBook book = RuleBook.of(List.of(rule("login", 0, "/login")));

        assertThat(names(book, "GET", "/login;x=1")).containsExactly("login");
        assertThat(names(book, "GET", "/%6cogin")).containsExactly("login");
        assertThat(names(book, "GET", "/login/")).isEmpty(); // as in Spring MVC, which does not find it either
    }

    @Test
    void caseIsIgnoredIfTheParserIgnoresIt() {
        PathPatternParser parser = new PathPatternParser();
        parser.setCaseSensitive(false);

        assertThat(names(RuleBook.of(List.of(rule("api", 0, "/api/{id}/x")), parser), "GET", "/API/7/X"))
                .containsExactly("api");
        assertThat(names(RuleBook.of(List.of(rule("api", 0, "/api/{id}/x"))), "GET", "/API/7/X"))
                .isEmpty();
    }

    @Test
    void ruleAppliesIfItMatchesOneReadingOfThePath() {
        RuleBook book = RuleBook.of(List.of(rule("pay", 0, "/pay"), rule("x", 1, "/x/**"), rule("other", 2, "/other")));

        assertThat(book.match("GET", List.of(PathContainer.parsePath("/x/../pay"), PathContainer.parsePath("/pay"))))
                .extracting(Rule::name)
                .containsExactly("x", "pay");
    }

    @Test
    void ruleThatCannotBeRightIsRefused() {
        assertThatThrownBy(() -> RuleBook.of(List.of(rule("a", 0, "api/**"))))
                .hasMessage("rule 'a': path is 'api/**'; begin it with /, as in /api/**");
        assertThatThrownBy(() -> RuleBook.of(List.of(rule("a", 0, "/api/{id"))))
                .hasMessageStartingWith("rule 'a': path is '/api/{id'; write a path pattern such as /api/**");
        assertThatThrownBy(() -> RuleBook.of(
                        List.of(new Rule("a", 0, "/a", Set.of("GTE"), "ip", List.of("l"), FailurePolicy.OPEN))))
                .hasMessageStartingWith("rule 'a': methods is 'GTE'; write methods of HTTP: GET, HEAD, POST, PUT");
        assertThatThrownBy(() -> RuleBook.of(List.of(rule("a", 0, "/a"), rule("a", 0, "/b"))))
                .hasMessage("rule 'a': name is 'a'; give each rule a name of its own");
        assertThatThrownBy(() ->
                        RuleBook.of(List.of(new Rule("a", 0, "/a", Set.of(), "ip", List.of(), FailurePolicy.OPEN))))
                .hasMessage("rule 'a': limits is ''; name at least one limit, as in [api]");
    }

    @Test
    void compiledBookAgreesWithALoopOverAllRules() {
        TestSeed seed = TestSeed.of("RuleBookTest");
        RandomGenerator random = seed.history(0);
        String[] segments = {"api", "v1", "*", "{id}", "**", "a*", "x.y", "login"};
        String[] parts = {"api", "v1", "other", "abc", "x.y", "login", "", "%61pi", "api;x=1"};
        for (int round = 0; round < 200; round++) {
            List<Rule> rules = new ArrayList<>();
            for (int i = 0; i < 1 + random.nextInt(30); i++) {
                rules.add(rule("rule" + i, random.nextInt(5), randomPattern(random, segments)));
            }
            RuleBook book = RuleBook.of(rules);
            for (int request = 0; request < 20; request++) {
                StringBuilder path = new StringBuilder();
                for (int i = 0; i <= random.nextInt(4); i++) {
                    path.append('/').append(parts[random.nextInt(parts.length)]);
                }
                PathContainer parsed = PathContainer.parsePath(path.toString());
                List<String> expected = rules.stream()
                        .sorted(Comparator.comparingInt(Rule::priority).reversed())
                        .filter(rule -> PathPatternParser.defaultInstance
                                .parse(rule.path())
                                .matches(parsed))
                        .map(Rule::name)
                        .toList();
                assertThat(names(book, "GET", path.toString()))
                        .as("%s, path %s, rules %s", seed, path, rules)
                        .isEqualTo(expected);
            }
        }
    }

    private static String randomPattern(RandomGenerator random, String[] segments) {
        StringBuilder pattern = new StringBuilder();
        int length = random.nextInt(3);
        for (int i = 0; i <= length; i++) {
            String segment = segments[random.nextInt(segments.length)];
            boolean variable = segment.equals("{id}") && pattern.indexOf("{id}") >= 0;
            pattern.append('/').append(segment.equals("**") && i < length || variable ? "*" : segment);
        }
        return pattern.toString();
    }

    private static Rule rule(String name, int priority, String path) {
        return new Rule(name, priority, path, Set.of(), "ip", List.of("limit"), FailurePolicy.OPEN);
    }

    private static List<String> names(RuleBook book, String method, String path) {
        return book.match(method, PathContainer.parsePath(path)).stream()
                .map(Rule::name)
                .toList();
    }
}
