package dev.ratelimit.starter;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.admin.Explanation;
import dev.ratelimit.admin.Inquiry;
import dev.ratelimit.admin.NewApiKey;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.caller.Caller;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.web.servlet.Authorities;
import dev.ratelimit.web.servlet.CallerLimits;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Random requests to a real server: the filter, usage ({@link CallerLimits#peek}) and {@link RateLimitAdmin#explain} must come
 * to the same outcome, by the same rules and limits, for the same subjects and tier. Rules, tiers, quotas, API keys, blocks and exemptions are
 * random, and paths are spelled in odd ways.
 */
class GateAgreementTest {

    private static final int REQUESTS_FOR_EACH_POLICY = 100;
    private static final int RULES = 7;
    private static final String GUESSES = "api-key-guesses ";

    private static final List<String> LIMITS =
            List.of("few", "tiered", "logged", "punished", "leaky", "apart", "quota");
    private static final List<String> PATHS =
            List.of("/api/a", "/api/b", "/api/a/x", "/pay", "/health", "/health/x", "/other", "/");
    private static final List<String> PATTERNS =
            List.of("/**", "/api/**", "/api/a", "/api/{id}", "/pay", "/health/**", "/api/a/x", "/*");

    @TempDir
    Path folder;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        Records records() {
            return new Records();
        }

        @Bean
        Authorities authorities() {
            return request -> {
                String granted = request.getHeader("Test-Authorities");
                return granted == null ? Set.of() : Set.of(granted.split(","));
            };
        }

        @Bean
        FilterRegistrationBean<Authentication> authentication(CallerLimits limits) {
            FilterRegistrationBean<Authentication> registration =
                    new FilterRegistrationBean<>(new Authentication(limits));
            registration.setOrder(-100);
            return registration;
        }

        @RestController
        static class Pages {

            @RequestMapping("/**")
            String page() {
                return "ok";
            }
        }
    }

    /** Believes who a request says it is from, and answers requests for usage at this point. */
    static final class Authentication extends OncePerRequestFilter {

        private final CallerLimits limits;

        Authentication(CallerLimits limits) {
            this.limits = limits;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest sent, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String user = sent.getHeader("Test-User");
            HttpServletRequest request = user == null
                    ? sent
                    : new HttpServletRequestWrapper(sent) {
                        @Override
                        public Principal getUserPrincipal() {
                            return () -> user;
                        }
                    };
            String peeked = sent.getHeader("Test-Peek");
            if (peeked == null) {
                chain.doFilter(request, response);
                return;
            }
            Decision decision = limits.peek(request, sent.getHeader("Test-Peek-Method"), peeked);
            Caller caller = limits.caller(request);
            Stream<String> lines = Stream.of(
                    decision.outcome().name(),
                    tier(caller.tier(), caller.choice().origin()));
            byte[] body = Stream.concat(lines, described(decision).stream())
                    .collect(joining("\n"))
                    .getBytes(StandardCharsets.UTF_8);
            response.setContentLength(body.length);
            response.getOutputStream().write(body);
        }
    }

    static final class Records implements DecisionListener {

        private final BlockingQueue<RequestRecord> all = new LinkedBlockingQueue<>();

        @Override
        public void recorded(RequestRecord request) {
            all.add(request);
        }

        RequestRecord next() throws InterruptedException {
            RequestRecord next = all.poll(20, TimeUnit.SECONDS);
            assertThat(next).as("the record of a request").isNotNull();
            return next;
        }
    }

    /** Each limit as {@code limit subject rule allowed remaining}. */
    private static Set<String> described(Decision decision) {
        Set<String> described = new TreeSet<>();
        decision.limits().forEach(one -> described.add(described(one)));
        return described;
    }

    private static String described(LimitDecision one) {
        return one.limit().name() + " " + one.subject() + " " + one.rule() + " " + one.allowed() + " "
                + one.remaining();
    }

    private static String withoutRemaining(String described) {
        return described.substring(0, described.lastIndexOf(' '));
    }

    private static String tier(String name, String origin) {
        return name + ", by " + origin;
    }

    /** An answer for usage, whose request was not rejected itself. */
    private record Peeked(String outcome, String tier, List<String> limits) {

        static Peeked of(String body) {
            List<String> lines = List.of(body.split("\n"));
            return new Peeked(lines.get(0), lines.get(1), lines.subList(2, lines.size()));
        }
    }

    /** A request and the one who sends it. */
    private record Case(
            String method,
            String path,
            String address,
            @Nullable String user,
            Set<String> authorities,
            @Nullable Key key) {

        Map<String, String> headers() {
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put("X-Forwarded-For", address);
            if (user != null) {
                headers.put("Test-User", user);
            }
            if (!authorities.isEmpty()) {
                headers.put("Test-Authorities", String.join(",", authorities));
            }
            if (key != null) {
                headers.put("X-API-Key", key.secret);
            }
            return headers;
        }

        Inquiry inquiry() {
            return new Inquiry(method, path, address, user, authorities, key == null ? null : key.id);
        }
    }

    private record Key(String id, String secret) {}

    private RateLimitAdmin admin;
    private RandomGenerator random;
    private final Map<Outcome, Integer> outcomes = new TreeMap<>();

    /** By all runs together, and how many of them compared the rejecting rule. */
    private static int total;

    private static int rulesCompared;

    /** How many requests were rejected since their address had used up its guesses of API keys. */
    private static int guessesDenied;

    @AfterAll
    static void printTotal() {
        System.out.printf(
                "compared %,d requests in all, the rule of %,d rejections, and %,d that were out of guesses%n",
                total, rulesCompared, guessesDenied);
        assertThat(guessesDenied).isPositive();
    }

    @ParameterizedTest
    @CsvSource({"all, 60", "first, 40"})
    void filterUsageAndExplanationAgree(String match, int policies) throws Exception {
        // Another one in each run, unless it is given.
        long seed = Long.getLong("ratelimit.test.seed", System.nanoTime());
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed + policies);
        int compared = 0;
        try (RunningApplication application = start(match);
                RawConnection connection = new RawConnection(application.port())) {
            admin = application.bean(RateLimitAdmin.class);
            Records records = application.bean(Records.class);
            for (int policy = 0; policy < policies; policy++) {
                List<Key> keys = newPolicy(policy);
                for (int i = 0; i < REQUESTS_FOR_EACH_POLICY; i++) {
                    Case request = randomCase(policy, keys);
                    compare(
                            request,
                            connection,
                            records,
                            "seed " + seed + ", " + match + ", policy " + policy + ", request " + i + ": " + request);
                    compared++;
                    total++;
                }
            }
        }
        System.out.printf("compared %,d requests (match: %s, seed %d): %s%n", compared, match, seed, outcomes);
        assertThat(outcomes.keySet())
                .contains(Outcome.ALLOWED, Outcome.THROTTLED, Outcome.BLOCKED, Outcome.EXEMPT, Outcome.UNKNOWN_API_KEY);
    }

    private void compare(Case request, RawConnection connection, Records records, String what) throws Exception {
        // The request for usage is charged as a guess, too, if its API key is unknown.
        Peeked usage = usage(request, connection, records);
        Explanation explanation = admin.explain(request.inquiry());
        connection.send(request.method, request.path, request.headers());
        RequestRecord record = records.next();

        assertThat(record.outcome())
                .as("%s: explained as %s", what, explanation)
                .isEqualTo(explanation.outcome());
        outcomes.merge(record.outcome(), 1, Integer::sum);
        compareTiers(record, usage, explanation, what);
        if (usage != null) {
            assertThat(usage.outcome)
                    .as("%s: usage, which has no outcome for the exempt", what)
                    .isEqualTo((record.outcome() == Outcome.EXEMPT ? Outcome.ALLOWED : record.outcome()).name());
        }
        if (record.outcome() == Outcome.ALLOWED) {
            assertThat(usage).as(what).isNotNull();
            compareCharges(record, usage, explanation, what);
        } else if (!record.allowed()) {
            compareRejections(record, usage, explanation, what);
        }
    }

    /** A record shows the tier only if a rule needed it. */
    private static void compareTiers(
            RequestRecord record, @Nullable Peeked usage, Explanation explanation, String what) {
        String ofRecord = record.exchange().tier();
        if (ofRecord != null) {
            assertThat(ofRecord).as(what).isEqualTo(explanation.tier());
        }
        if (usage != null) {
            assertThat(usage.tier).as(what).isEqualTo(tier(explanation.tier(), explanation.tierFrom()));
        }
    }

    private static void compareCharges(RequestRecord record, Peeked usage, Explanation explanation, String what) {
        List<String> charged = new ArrayList<>();
        Set<String> explained = new TreeSet<>();
        record.asked().forEach(asked -> charged.addAll(described(asked.decision())));
        explanation.applying().stream()
                .filter(one -> one.rule().action() == Action.THROTTLE)
                .flatMap(one -> one.limits().stream())
                .forEach(one -> explained.add(described(one.decision())));
        assertThat(charged)
                .as("%s: explained as %s", what, explanation)
                .containsExactlyInAnyOrderElementsOf(explained.stream()
                        .map(GateAgreementTest::afterOneCharge)
                        .toList());
        assertThat(charged)
                .as(what)
                .containsExactlyInAnyOrderElementsOf(usage.limits.stream()
                        .map(GateAgreementTest::afterOneCharge)
                        .toList());
    }

    /** The filter stops at the first rejection, and the others go on: all that it asked must be among what they show. */
    private static void compareRejections(
            RequestRecord record, @Nullable Peeked usage, Explanation explanation, String what) {
        String rule = record.rule();
        boolean byLimit =
                record.asked().stream().anyMatch(asked -> !asked.decision().allowed());
        if (!byLimit) {
            List<String> blocking = explanation.applying().stream()
                    .filter(one -> one.rule().action() == Action.BLOCK)
                    .map(one -> one.rule().name())
                    .toList();
            boolean byRule = record.outcome() == Outcome.BLOCKED && explanation.blockedUntil() == null;
            if (rule != null || byRule) {
                assertThat(blocking).as("%s: rejected by %s", what, rule).containsExactly(rule);
                rulesCompared++;
            }
            return;
        }
        Set<String> asked = new TreeSet<>();
        record.asked().forEach(one -> described(one.decision()).forEach(it -> asked.add(withoutRemaining(it))));
        if (asked.removeIf(one -> one.startsWith(GUESSES))) {
            assertThat(asked).as("%s: rejected before its rules", what).isEmpty();
            assertThat(rule).as(what).isNull();
            guessesDenied++;
            return;
        }
        Set<String> explained = new TreeSet<>();
        explanation.applying().stream()
                .flatMap(one -> one.limits().stream())
                .filter(one -> one.decision() != null)
                .forEach(one -> explained.add(withoutRemaining(described(one.decision()))));
        assertThat(explained).as("%s: explained as %s", what, explanation).containsAll(asked);
        assertThat(asked).as("%s: rejected by %s", what, rule).anyMatch(one -> one.endsWith(" " + rule + " false"));
        rulesCompared++;
        if (usage != null) {
            assertThat(usage.limits.stream().map(GateAgreementTest::withoutRemaining))
                    .as(what)
                    .containsAll(asked);
        }
    }

    private static String afterOneCharge(String described) {
        int space = described.lastIndexOf(' ');
        return described.substring(0, space + 1) + (Long.parseLong(described.substring(space + 1)) - 1);
    }

    /**
     * The answer for usage; {@code null} if the request for usage itself is rejected, since its API key is not valid or its address
     * has used up its guesses.
     */
    private @Nullable Peeked usage(Case request, RawConnection connection, Records records) throws Exception {
        Map<String, String> headers = request.headers();
        headers.put("Test-Peek", request.path);
        headers.put("Test-Peek-Method", request.method);
        RawConnection.Answer answer = connection.send("GET", "/peek", headers);
        RequestRecord ofPeek = records.next();
        if (ofPeek.outcome() == Outcome.UNKNOWN_API_KEY) {
            assertThat(answer.status()).isEqualTo(401);
            return null;
        }
        if (ofPeek.outcome() == Outcome.THROTTLED) {
            assertThat(answer.status()).isEqualTo(429);
            return null;
        }
        return Peeked.of(answer.body());
    }

    private RunningApplication start(String match) {
        return RunningApplication.start(
                List.of(Application.class),
                "ratelimit.store.sqlite.path=" + folder.resolve(match + ".db"),
                "ratelimit.match=" + match,
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.api-keys.enabled=true",
                "ratelimit.api-keys.guesses=3",
                "ratelimit.exempt.paths=/health/**",
                "ratelimit.exempt.addresses=192.0.2.0/24",
                "ratelimit.exempt.authorities=ROLE_BOSS",
                "ratelimit.tiers.default=free",
                "ratelimit.tiers.authorities.ROLE_PREMIUM=premium",
                "ratelimit.tiers.quotas.free.per-month=6",
                "ratelimit.tiers.quotas.premium.per-month=12",
                "ratelimit.limits.few.algorithm=token-bucket",
                "ratelimit.limits.few.burst=3",
                "ratelimit.limits.few.refill=1/d",
                "ratelimit.limits.tiered.algorithm=token-bucket",
                "ratelimit.limits.tiered.burst=4",
                "ratelimit.limits.tiered.refill=1/d",
                "ratelimit.limits.tiered.tiers.premium.burst=9",
                "ratelimit.limits.logged.algorithm=sliding-log",
                "ratelimit.limits.logged.max-requests=5",
                "ratelimit.limits.logged.window=1d",
                "ratelimit.limits.punished.algorithm=fixed-window",
                "ratelimit.limits.punished.max-requests=4",
                "ratelimit.limits.punished.window=365d",
                "ratelimit.limits.punished.penalties[0].after=1",
                "ratelimit.limits.punished.penalties[0].block=1h",
                "ratelimit.limits.leaky.algorithm=leaky-bucket",
                "ratelimit.limits.leaky.capacity=4",
                "ratelimit.limits.leaky.drain=1/d",
                "ratelimit.limits.apart.algorithm=token-bucket",
                "ratelimit.limits.apart.burst=9",
                "ratelimit.limits.apart.refill=1/d",
                "ratelimit.limits.apart.min-interval=1h",
                "ratelimit.rules.peek.path=/peek",
                "ratelimit.rules.peek.priority=1000",
                "ratelimit.rules.peek.action=allow");
    }

    /** Other rules, and users, addresses and keys that nobody has counted yet. */
    private List<Key> newPolicy(int policy) {
        for (int i = 0; i < RULES; i++) {
            admin.rules().set(randomRule("r" + i), Change.by("test"));
        }
        admin.quotas().set(user(policy, 1), pick(null, "free", "premium"), randomQuota(), Change.by("test"));
        admin.quotas()
                .block(
                        user(policy, 2),
                        Change.by("test")
                                .until(Instant.now().plus(Duration.ofDays(1)))
                                .because("test"));
        List<Key> keys = new ArrayList<>();
        keys.add(new Key("none", "rl_none"));
        for (int i = 0; i < 4; i++) {
            NewApiKey key =
                    NewApiKey.of("key" + i, user(policy, i)).quota(random.nextInt(3) == 0 ? randomQuota() : Quota.NONE);
            var issued = admin.keys().create(random.nextInt(3) == 0 ? key.tier("premium") : key, Change.by("test"));
            keys.add(new Key(issued.id(), issued.secret()));
        }
        admin.keys().revoke(keys.get(4).id, Change.by("test"));
        return keys;
    }

    private Quota randomQuota() {
        return new Quota(null, null, null, 1L + random.nextInt(10), null, null);
    }

    private static String user(int policy, int number) {
        return "u" + policy + "-" + number;
    }

    private Rule randomRule(String name) {
        Action action = random.nextInt(3) > 0
                ? Action.THROTTLE
                : pick(Action.BLOCK, Action.ALLOW, Action.SHADOW, Action.SHADOW);
        Rule.Builder rule = Rule.named(name)
                .priority(random.nextInt(4))
                .action(action)
                .path(action == Action.BLOCK ? pick("/pay", "/api/a/x", "/other") : pick(PATTERNS))
                .key(pick("user", "ip", "user+ip", "api-key"));
        if (action.hasLimits()) {
            Set<String> limits = new TreeSet<>(List.of(pick(LIMITS)));
            if (random.nextInt(3) == 0) {
                limits.add(pick(LIMITS));
            }
            rule.limits(limits);
        }
        if (random.nextInt(4) == 0) {
            rule.methods(pick("GET", "POST"));
        }
        if (random.nextInt(6) == 0) {
            rule.tiers(pick("free", "premium"));
        }
        if (random.nextInt(6) == 0) {
            rule.authorities("ROLE_STAFF");
        }
        if (random.nextInt(8) == 0) {
            rule.addresses("10.0.0.0/8");
        }
        if (random.nextInt(8) == 0) {
            rule.apiKeys(pick("*", "key0"));
        }
        return rule.build();
    }

    private Case randomCase(int policy, List<Key> keys) {
        Set<String> authorities = new TreeSet<>();
        if (random.nextInt(4) == 0) {
            authorities.add("ROLE_PREMIUM");
        }
        if (random.nextInt(4) == 0) {
            authorities.add("ROLE_STAFF");
        }
        if (random.nextInt(20) == 0) {
            authorities.add("ROLE_BOSS");
        }
        String address = random.nextInt(15) == 0
                ? "192.0.2.7"
                : pick("10", "172") + "." + (16 + policy % 16) + "." + policy + "." + random.nextInt(1, 9);
        return new Case(
                pick("GET", "GET", "POST", "HEAD", "DELETE"),
                spelled(pick(PATHS)),
                address,
                random.nextInt(3) == 0 ? null : user(policy, random.nextInt(5)),
                authorities,
                random.nextInt(3) > 0 ? null : pick(keys));
    }

    /** The same path as something behind the filters may read it, or nearly. */
    private String spelled(String path) {
        return switch (random.nextInt(14)) {
            case 0 -> path + "/";
            case 1 -> "/" + path;
            case 2 -> path.replace("/api", "/api/.");
            case 3 -> "/health/.." + path;
            case 4 -> "/x/%2e%2e" + path;
            case 5 -> path + ";v=1";
            case 6 -> path.replace("/api/", "/api;v=1/");
            case 7 -> path.replace("a", "%61");
            case 8 -> path.toUpperCase(Locale.ROOT);
            case 9 -> path + "//";
            case 10 -> path + "/.";
            case 11 -> path + "/y/..;/";
            default -> path;
        };
    }

    @SafeVarargs
    private <T> T pick(T... from) {
        return from[random.nextInt(from.length)];
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
