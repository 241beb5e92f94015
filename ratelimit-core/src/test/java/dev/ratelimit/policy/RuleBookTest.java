package dev.ratelimit.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.IpAddress;
import dev.ratelimit.Limits;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.caller.TierChoice;
import dev.ratelimit.policy.Rule.Response;
import dev.ratelimit.policy.RuleBook.MatchMode;
import dev.ratelimit.testing.TestSeed;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.http.server.PathContainer;
import org.springframework.web.util.UriUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

class RuleBookTest {

    private static final LimitBook LIMITS = LimitBook.of(Map.of(
            "limit", Map.of("algorithm", "fixed-window", "max-requests", "5", "window", "1m"),
            "tiered",
                    Map.of(
                            "algorithm",
                            "fixed-window",
                            "max-requests",
                            "5",
                            "window",
                            "1m",
                            "tiers.premium.max-requests",
                            "50")));

    @Test
    void rulesOfHigherPriorityComeFirstAndEqualOnesKeepTheirOrder() {
        RuleBook book = book(
                rule("low").priority(1).path("/api/**"),
                rule("first").priority(5),
                rule("second").priority(5).path("/api/{id}"),
                rule("high").priority(9).path("/api/x"));

        assertThat(names(book, "GET", "/api/x")).containsExactly("high", "first", "second", "low");
        assertThat(names(book, "GET", "/other")).containsExactly("first");
    }

    @Test
    void getCoversHeadAndNothingElse() {
        RuleBook book = book(rule("reads").methods("get").path("/api/**"));

        assertThat(names(book, "HEAD", "/api/x")).containsExactly("reads");
        assertThat(names(book, "POST", "/api/x")).isEmpty();
    }

    @Test
    void pathIsMatchedAsItIsDecodedAndWithoutItsParameters() {
        RuleBook book = book(rule("login").path("/login"));

        assertThat(names(book, "GET", "/login;x=1")).containsExactly("login");
        assertThat(names(book, "GET", "/%6cogin")).containsExactly("login");
        assertThat(names(book, "GET", "/login/")).isEmpty(); // as in Spring MVC, which does not find it either
    }

    /** Otherwise a path that nobody can read would be allowed by every rule that allows. */
    @Test
    void pathThatCannotBeReadIsMatchedByRulesForEveryPathOnly() {
        RuleBook book = book(
                rule("health")
                        .priority(9)
                        .path("/health/**")
                        .action(Action.ALLOW)
                        .limits(),
                rule("api").priority(8).path("/api/**"),
                rule("shut").priority(7).path("/shut/**").action(Action.BLOCK).limits(),
                rule("everything"));
        RequestFacts facts = new RequestFacts("GET", false, List.of(), null, null, null, null);

        RuleMatch match = book.match(facts);

        assertThat(match.rules()).extracting(Rule::name).containsExactly("everything");
        assertThat(match.end()).isNull();
    }

    @Test
    void rulesOfAnEndpointAreThoseForItsMethodAndPath() {
        RuleBook book = book(
                rule("premium").path("/api/**").tiers("premium"),
                rule("writes").path("/api/**").methods("POST"),
                rule("reads").path("/api/games").methods("GET").priority(3),
                rule("other").path("/other"));

        assertThat(book.rulesFor("HEAD", PathReadings.of("/api/games/")))
                .extracting(Rule::name)
                .containsExactly("reads", "premium");
    }

    @Test
    void lettersOfAnotherCaseAreTheSameWhereTheParserSaysSo() {
        PathPatternParser anyCase = new PathPatternParser();
        anyCase.setCaseSensitive(false);
        RuleBook book = RuleBook.of(List.of(rule("login").path("/Login").build()), LIMITS, MatchMode.ALL, anyCase);

        assertThat(names(book, "GET", "/loGIN")).containsExactly("login");
    }

    /** Such as a dotless i, which is not the same letter in lower case. */
    @Test
    void ruleIsFoundByEveryLetterThatItsPatternMatches() {
        PathPatternParser anyCase = new PathPatternParser();
        anyCase.setCaseSensitive(false);
        PathPattern pattern = anyCase.parse("/sik");
        RuleBook book = RuleBook.of(List.of(rule("sik").path("/sik").build()), LIMITS, MatchMode.ALL, anyCase);

        int matching = 0;
        for (int letter = 0; letter <= Character.MAX_VALUE; letter++) {
            for (String path : List.of((char) letter + "ik", "s" + (char) letter + "k", "si" + (char) letter)) {
                String encoded = "/" + UriUtils.encodePathSegment(path, StandardCharsets.UTF_8);
                if (pattern.matches(PathContainer.parsePath(encoded))) {
                    assertThat(names(book, "GET", encoded)).as(encoded).containsExactly("sik");
                    matching++;
                }
            }
        }
        assertThat(matching).as("more than each letter and its capital").isGreaterThan(6);
    }

    @Test
    void whereAPathHasSeveralReadingsRestrictionsHoldForAnyAndFreedomsForAll() {
        RuleBook book = book(
                rule("free").priority(2).action(Action.ALLOW).limits().path("/public/**"),
                rule("counted").priority(1).path("/admin"));
        List<PathContainer> readings =
                List.of(PathContainer.parsePath("/public/../admin"), PathContainer.parsePath("/admin"));

        RuleMatch match = book.match(new RequestFacts("GET", false, readings, null, null, null, rule -> false));

        assertThat(match.end()).isNull();
        assertThat(match.rules()).extracting(Rule::name).containsExactly("counted");
    }

    @Test
    void questionOfABrowserCountsOnlyForRulesThatNameItsMethod() {
        RuleBook book = book(rule("all"), rule("options").methods("OPTIONS"));
        RequestFacts question = new RequestFacts(
                "OPTIONS", true, List.of(PathContainer.parsePath("/x")), null, null, null, rule -> false);

        assertThat(book.match(question).rules()).extracting(Rule::name).containsExactly("options");
    }

    @Test
    void eachConditionHasItsSay() {
        RuleBook book = book(
                rule("addresses").addresses("10.0.0.0/8", "2001:db8::/32"),
                rule("tiers").tiers("premium", "enterprise"),
                rule("authorities").authorities("ROLE_STAFF"),
                rule("key-by-name").apiKeys("ci"),
                rule("key-by-id").apiKeys("k7"),
                rule("any-key").apiKeys("*"),
                rule("expression").expression("#true"));
        ApiKey key = new ApiKey("k7", "ci", "alice", null, Quota.NONE);

        assertThat(names(book, facts("10.1.2.3", null, caller("free"), false))).containsExactly("addresses");
        assertThat(names(book, facts("2001:db8::1", null, caller("free"), false)))
                .containsExactly("addresses");
        assertThat(names(book, facts("11.1.2.3", null, caller("free"), false))).isEmpty();
        assertThat(names(book, facts(null, null, caller("premium"), false))).containsExactly("tiers");
        assertThat(names(book, facts(null, null, caller("free", "ROLE_STAFF"), false)))
                .containsExactly("authorities");
        assertThat(names(book, facts(null, key, caller("free"), false)))
                .containsExactly("key-by-name", "key-by-id", "any-key");
        assertThat(names(book, facts(null, null, caller("free"), true))).containsExactly("expression");
    }

    @Test
    void allowAndBlockEndTheWalkAndShadowDoesNot() {
        RuleBook book = book(
                rule("shadow").priority(9).action(Action.SHADOW),
                rule("before").priority(8),
                rule("allow").priority(7).action(Action.ALLOW).limits().addresses("10.0.0.0/8"),
                rule("block").priority(6).action(Action.BLOCK).limits().path("/admin"),
                rule("after").priority(5));

        RuleMatch inside = book.match(facts("10.0.0.1", null, caller("free"), false));
        assertThat(inside.rules()).extracting(Rule::name).containsExactly("shadow", "before");
        assertThat(inside.end()).isNotNull().extracting(Rule::name).isEqualTo("allow");

        RuleMatch admin = book.match(RequestFacts.of("GET", "/admin").with(caller("free")));
        assertThat(admin.end()).isNotNull().extracting(Rule::name).isEqualTo("block");

        RuleMatch outside = book.match(facts("11.0.0.1", null, caller("free"), false));
        assertThat(outside.rules()).extracting(Rule::name).containsExactly("shadow", "before", "after");
        assertThat(outside.end()).isNull();
    }

    @Test
    void firstThrottlingRuleIsTheOnlyOneIfThatIsTheMode() {
        RuleBook book = RuleBook.of(
                List.of(
                        rule("shadow").priority(9).action(Action.SHADOW).build(),
                        rule("first").priority(8).build(),
                        rule("second").priority(7).build()),
                LIMITS,
                MatchMode.FIRST,
                PathPatternParser.defaultInstance);

        assertThat(names(book, "GET", "/x")).containsExactly("shadow", "first");
    }

    @Test
    void whatNeedsTheCallerIsLeftOpenAndWhatItMightEndWithIt() {
        RuleBook book = book(
                rule("by-address").priority(9),
                rule("by-user").priority(8).key("user"),
                rule("by-tier-of-limit").priority(7).limits("tiered"),
                rule("staff").priority(6).action(Action.ALLOW).limits().authorities("ROLE_STAFF"),
                rule("flood").priority(5));

        RuleMatch before = book.match(RequestFacts.of("GET", "/x"));
        assertThat(before.rules()).extracting(Rule::name).containsExactly("by-address");
        assertThat(before.isOpen()).isTrue();

        RuleMatch staff = book.resume(before, RequestFacts.of("GET", "/x").with(caller("free", "ROLE_STAFF")));
        assertThat(staff.rules()).extracting(Rule::name).containsExactly("by-user", "by-tier-of-limit");
        assertThat(staff.end()).isNotNull();

        RuleMatch others = book.resume(before, RequestFacts.of("GET", "/x").with(caller("free")));
        assertThat(others.rules()).extracting(Rule::name).containsExactly("by-user", "by-tier-of-limit", "flood");
    }

    @Test
    void ruleThatCannotBeRightIsRefused() {
        assertThatThrownBy(() -> rule("a").path("api/**").build())
                .hasMessage("rule 'a': path is 'api/**'; begin it with /, as in /api/**");
        assertThatThrownBy(() -> book(rule("a").path("/api/a?x=1")))
                .hasMessage("rule 'a': path is '/api/a?x=1'; leave out what follows the ?: it is matched with the path,"
                        + " which has no parameters");
        assertThatThrownBy(() -> book(rule("a").path("/api/{id")))
                .hasMessageStartingWith("rule 'a': path is '/api/{id'; write a path pattern such as /api/**");
        assertThatThrownBy(() -> book(rule("a").path("/a"), rule("a").path("/b")))
                .hasMessage("rule 'a': name is 'a'; give each rule a name of its own");
        assertThatThrownBy(() -> rule("a").limits().build())
                .hasMessage("rule 'a': limits is ''; name at least one limit, as in [api]");
        assertThatThrownBy(() -> rule("a").action(Action.BLOCK).build())
                .hasMessage("rule 'a': limits is 'limit'; leave them out, or write action: throttle:"
                        + " a rule that says block asks no limit");
        assertThatThrownBy(() -> rule("a").addresses("10.0.0.1/8"))
                .hasMessage("rule 'a': addresses is '10.0.0.1/8'; write 10.0.0.0/8, without bits behind the prefix");
        assertThatThrownBy(() -> rule("a").addresses("10.0.0.0/33"))
                .hasMessageStartingWith("rule 'a': addresses is '10.0.0.0/33'; write one such as 10.0.0.0/8");
        assertThatThrownBy(
                        () -> rule("a").response(new Response(200, null, null)).build())
                .hasMessage("rule 'a': response.status is 200; write a status from 400 to 599, such as 429");
        assertThatThrownBy(() -> rule("a").key("tenant").build())
                .hasMessageStartingWith("rule 'a': key is 'tenant'; write user, ip, user+ip");
        assertThatThrownBy(() -> book(rule("a").limits("other")))
                .hasMessage("rule 'a': limits is 'other'; name one of limit, tiered");
    }

    @Test
    void explanationSaysOfEachRuleWhetherItAppliesAndWhy() {
        RuleBook book = book(
                rule("reads").priority(9).methods("GET"),
                rule("elsewhere").priority(8).path("/other/**"),
                rule("inside").priority(7).addresses("10.0.0.0/8"),
                rule("paying").priority(6).tiers("premium"),
                rule("end").priority(5).action(Action.ALLOW).limits(),
                rule("late").priority(4));

        List<RuleBook.WalkedRule> explanations = book.explain(new RequestFacts(
                "POST",
                false,
                List.of(PathContainer.parsePath("/api/x")),
                IpAddress.parse("192.0.2.7"),
                null,
                caller("free"),
                rule -> false));

        assertThat(explanations)
                .extracting(one -> one.rule().name() + ": " + one.applies() + ", " + one.why())
                .containsExactly(
                        "reads: false, the method POST is none of [GET]",
                        "elsewhere: false, the path /api/x does not match /other/**",
                        "inside: false, the address 192.0.2.7 lies in none of [10.0.0.0/8]",
                        "paying: false, the tier free is none of [premium]",
                        "end: true, it matches",
                        "late: false, the rule end, which comes before, says allow");
    }

    @Test
    void chargesOnArrivalMayBeGivenBackOnlyIfARuleNeedsTheCaller() {
        Rule.Builder byAddress = rule("address").key("ip").limits("limit");

        assertThat(book(byAddress).mayBeGivenBack("limit")).isFalse();
        RuleBook both = book(byAddress, rule("user").key("user").limits("tiered"));
        assertThat(both.mayBeGivenBack("limit")).isTrue();
        assertThat(both.mayBeGivenBack("tiered")).isFalse();
    }

    /** A thousand sets of rules; whatever is known when, the two steps together come to what a plain loop does. */
    @Test
    void compiledBookAgreesWithALoopOverAllRules() {
        TestSeed seed = TestSeed.of("RuleBookTest");
        for (int round = 0; round < 1_000; round++) {
            RandomGenerator random = seed.history(round);
            List<Rule> rules = new ArrayList<>();
            for (int i = 0; i < 1 + random.nextInt(30); i++) {
                rules.add(randomRule("rule" + i, random));
            }
            MatchMode mode = random.nextBoolean() ? MatchMode.ALL : MatchMode.FIRST;
            RuleBook book = RuleBook.of(rules, LIMITS, mode, PathPatternParser.defaultInstance);
            for (int request = 0; request < 20; request++) {
                RequestFacts facts = randomFacts(random);
                Caller caller = caller(
                        pick(random, "free", "premium", "enterprise"),
                        random.nextBoolean() ? new String[] {"ROLE_STAFF"} : new String[0]);
                List<String> expected = naive(rules, mode, facts, caller);

                assertThat(inOneStep(book, facts.with(caller)))
                        .as("%s, one step, %s, %s, rules %s", seed, mode, facts, rules)
                        .isEqualTo(expected);
                assertThat(inTwoSteps(book, facts, caller))
                        .as("%s, two steps, %s, %s, rules %s", seed, mode, facts, rules)
                        .containsExactlyInAnyOrderElementsOf(expected);
                RuleMatch onArrival = book.match(facts);
                assertThat(onArrival.rules().stream().flatMap(rule -> rule.limits().stream()))
                        .as("%s, may be given back, %s, %s, rules %s", seed, mode, facts, rules)
                        .allMatch(limit -> !onArrival.isOpen() || book.mayBeGivenBack(limit));
                assertThat(book.explain(facts.with(caller)).stream()
                                .filter(RuleBook.WalkedRule::applies)
                                .map(one -> one.rule().name()))
                        .as("%s, explained, %s, %s, rules %s", seed, mode, facts, rules)
                        .containsExactlyElementsOf(expected);
            }
        }
    }

    /** The expected result of the compiled book, written as plainly as possible. */
    private static List<String> naive(List<Rule> rules, MatchMode mode, RequestFacts facts, Caller caller) {
        List<Rule> ordered = new ArrayList<>(rules);
        ordered.sort(Comparator.comparingInt(Rule::priority).reversed());
        List<String> applied = new ArrayList<>();
        for (Rule rule : ordered) {
            Conditions is = rule.conditions();
            boolean path = PathPatternParser.defaultInstance
                    .parse(is.path())
                    .matches(facts.paths().get(0));
            boolean method = is.methods().isEmpty()
                    || is.methods().contains(facts.method())
                    || (facts.method().equals("HEAD") && is.methods().contains("GET"));
            IpAddress client = facts.address();
            boolean address = is.addresses().isEmpty()
                    || (client != null && is.addresses().stream().anyMatch(range -> range.contains(client)));
            ApiKey key = facts.apiKey();
            boolean apiKey = is.apiKeys().isEmpty()
                    || (key != null
                            && (is.apiKeys().contains("*") || is.apiKeys().contains(key.name())));
            boolean tier = is.tiers().isEmpty() || is.tiers().contains(caller.tier());
            boolean authority =
                    is.authorities().isEmpty() || is.authorities().stream().anyMatch(caller.authorities()::contains);
            boolean expression = is.expression() == null || facts.expressions().test(rule);
            if (path && method && address && apiKey && tier && authority && expression) {
                applied.add(rule.name());
                if (rule.action() == Action.ALLOW
                        || rule.action() == Action.BLOCK
                        || (rule.action() == Action.THROTTLE && mode == MatchMode.FIRST)) {
                    break;
                }
            }
        }
        return applied;
    }

    private static List<String> inOneStep(RuleBook book, RequestFacts facts) {
        RuleMatch match = book.match(facts);
        assertThat(match.isOpen()).isFalse();
        return appliedIn(match);
    }

    private static List<String> inTwoSteps(RuleBook book, RequestFacts facts, Caller caller) {
        RuleMatch first = book.match(facts);
        List<String> applied = new ArrayList<>(appliedIn(first));
        applied.addAll(appliedIn(book.resume(first, facts.with(caller))));
        return applied;
    }

    private static List<String> appliedIn(RuleMatch match) {
        List<String> applied = new ArrayList<>();
        match.rules().forEach(rule -> applied.add(rule.name()));
        Rule end = match.end();
        if (end != null) {
            applied.add(end.name());
        }
        return applied;
    }

    private static Rule randomRule(String name, RandomGenerator random) {
        Action action =
                random.nextInt(3) == 0 ? Action.values()[random.nextInt(Action.values().length)] : Action.THROTTLE;
        Rule.Builder rule = Rule.named(name)
                .priority(random.nextInt(5))
                .path(randomPattern(random))
                .action(action)
                .key(pick(random, "ip", "user", "api-key"));
        if (action.hasLimits()) {
            rule.limits(pick(random, "limit", "tiered", Quota.LIMIT));
        }
        if (random.nextInt(4) == 0) {
            rule.methods(pick(random, "GET", "POST"));
        }
        if (random.nextInt(4) == 0) {
            rule.addresses(pick(random, "10.0.0.0/8", "10.1.0.0/16", "2001:db8::/33"));
        }
        if (random.nextInt(5) == 0) {
            rule.tiers(pick(random, "free", "premium"));
        }
        if (random.nextInt(5) == 0) {
            rule.authorities("ROLE_STAFF");
        }
        if (random.nextInt(5) == 0) {
            rule.apiKeys(pick(random, "*", "ci"));
        }
        if (random.nextInt(5) == 0) {
            rule.expression("#" + name);
        }
        return rule.build();
    }

    private static RequestFacts randomFacts(RandomGenerator random) {
        String[] parts = {"api", "v1", "other", "abc", "x.y", "login", "", "%61pi", "api;x=1"};
        StringBuilder path = new StringBuilder();
        for (int i = 0; i <= random.nextInt(4); i++) {
            path.append('/').append(pick(random, parts));
        }
        int salt = random.nextInt();
        return new RequestFacts(
                pick(random, "GET", "HEAD", "POST", "PUT"),
                false,
                List.of(PathContainer.parsePath(path.toString())),
                IpAddress.parse(pick(random, "10.1.2.3", "10.2.2.3", "192.0.2.7", "2001:db8::1", "none")),
                random.nextBoolean() ? new ApiKey("id", pick(random, "ci", "cd"), "alice", null, Quota.NONE) : null,
                null,
                rule -> (rule.name().hashCode() ^ salt) % 2 == 0);
    }

    private static String randomPattern(RandomGenerator random) {
        String[] segments = {"api", "v1", "*", "{id}", "**", "a*", "x.y", "login"};
        StringBuilder pattern = new StringBuilder();
        int length = random.nextInt(3);
        for (int i = 0; i <= length; i++) {
            String segment = pick(random, segments);
            boolean variable = segment.equals("{id}") && pattern.indexOf("{id}") >= 0;
            pattern.append('/').append((segment.equals("**") && i < length) || variable ? "*" : segment);
        }
        return pattern.toString();
    }

    private static String pick(RandomGenerator random, String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private static Rule.Builder rule(String name) {
        return Rule.named(name).key("ip").limits("limit");
    }

    private static RuleBook book(Rule.Builder... rules) {
        Limits limits = LIMITS;
        return RuleBook.of(
                Arrays.stream(rules).map(Rule.Builder::build).toList(),
                limits,
                MatchMode.ALL,
                PathPatternParser.defaultInstance);
    }

    private static Caller caller(String tier, String... authorities) {
        return new Caller("alice", TierChoice.byDefault(tier), Set.of(authorities), List.of(), null, null);
    }

    private static RequestFacts facts(
            @Nullable String address, @Nullable ApiKey key, Caller caller, boolean expressions) {
        return new RequestFacts(
                "GET",
                false,
                List.of(PathContainer.parsePath("/x")),
                IpAddress.parse(address),
                key,
                caller,
                rule -> expressions);
    }

    private static List<String> names(RuleBook book, RequestFacts facts) {
        return book.match(facts).rules().stream().map(Rule::name).toList();
    }

    private static List<String> names(RuleBook book, String method, String path) {
        return names(book, RequestFacts.of(method, path));
    }
}
