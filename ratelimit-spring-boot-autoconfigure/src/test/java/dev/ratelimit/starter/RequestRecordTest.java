package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.RequestRecord.Asked;
import dev.ratelimit.RequestRecord.Exchange;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.starter.FailingStoreTest.SickStore;
import dev.ratelimit.starter.RunningApplication.Container;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.ObjectAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** Listeners receive one complete record per request, whatever happens to it. */
class RequestRecordTest {

    private static RunningApplication application;
    private static @Nullable RunningApplication jetty;
    private static Records records;
    private static SickStore store;

    /** Every test comes from an address of its own. */
    private static int addresses;

    private String address;

    static final class Records implements DecisionListener {

        private final List<RequestRecord> all = new CopyOnWriteArrayList<>();

        @Override
        public void recorded(RequestRecord request) {
            all.add(request);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        SickStore store() {
            return new SickStore();
        }

        @Bean
        Records records() {
            return new Records();
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        Accounts accounts() {
            Instant until = Instant.now().plus(Duration.ofDays(1));
            return user -> user.equals("blocked") ? new Account(user, null, Quota.NONE, until, "for a test") : null;
        }

        @Bean
        ApiKeys apiKeys() {
            return secret -> switch (secret) {
                case "right" -> new ApiKey("key-1", "ci", "olga", null, Quota.NONE);
                case "of-blocked" -> new ApiKey("key-2", "old", "blocked", null, Quota.NONE);
                case "broken" -> throw new IllegalStateException("failed on purpose");
                default -> null;
            };
        }

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.requestMatchers("/secured/**")
                            .authenticated()
                            .requestMatchers("/admin/**")
                            .hasRole("ADMIN")
                            .anyRequest()
                            .permitAll())
                    .csrf(csrf -> csrf.disable())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    user("alice", "PREMIUM"), user("fay"), user("blocked"), user("boss", "BOSS"), user("gus", "GUEST"));
        }

        private static UserDetails user(String name, String... roles) {
            return User.withUsername(name)
                    .password("{noop}" + name)
                    .authorities(
                            Arrays.stream(roles).map(role -> "ROLE_" + role).toArray(String[]::new))
                    .build();
        }

        @Bean
        Letters letters() {
            return new Letters();
        }
    }

    static class Letters {

        @RateLimited(limit = "letters")
        public void send() {}
    }

    @RestController
    static class Endpoints {

        private final Letters letters;
        private final RateLimiter limiter;

        Endpoints(Letters letters, RateLimiter limiter) {
            this.letters = letters;
            this.limiter = limiter;
        }

        @GetMapping("/{area}/{id}")
        String page() {
            return "ok";
        }

        @PostMapping("/{area}/{id}")
        String posted() {
            return "posted";
        }

        @GetMapping("/async/callable")
        Callable<String> callable() {
            return () -> "callable";
        }

        @GetMapping("/async/deferred")
        DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>();
            CompletableFuture.runAsync(() -> result.setResult("deferred"));
            return result;
        }

        @GetMapping("/async/events")
        SseEmitter events() throws IOException {
            SseEmitter events = new SseEmitter();
            events.send("one");
            events.complete();
            return events;
        }

        @GetMapping("/async/throws")
        Callable<String> failing() {
            return () -> {
                throw new IllegalStateException("failed on purpose");
            };
        }

        @GetMapping("/async/rejected")
        DeferredResult<String> rejected() {
            DeferredResult<String> result = new DeferredResult<>();
            CompletableFuture.runAsync(
                    () -> result.setErrorResult(new ResponseStatusException(HttpStatus.I_AM_A_TEAPOT)));
            return result;
        }

        @GetMapping("/async/timeout")
        DeferredResult<String> timeout() {
            return new DeferredResult<>(50L);
        }

        @GetMapping("/async/letters")
        Callable<String> lettersLater() {
            return () -> {
                letters.send();
                return "sent";
            };
        }

        @GetMapping("/sync/throws")
        String error() {
            throw new IllegalStateException("failed on purpose");
        }

        @GetMapping("/sync/teapot")
        String teapot() {
            throw new ResponseStatusException(HttpStatus.I_AM_A_TEAPOT);
        }

        @GetMapping("/sync/forward")
        void forward(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/sync/target").forward(request, response);
        }

        @GetMapping("/sync/include")
        void include(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/sync/target").include(request, response);
        }

        @GetMapping("/sync/target")
        String target() {
            return "target";
        }

        @GetMapping("/flood/letters")
        String letters() {
            letters.send();
            return "sent";
        }

        @GetMapping("/sync/handled")
        String handled() {
            try {
                letters.send();
                return "sent";
            } catch (RateLimitExceededException e) {
                return "later";
            }
        }

        @GetMapping("/sync/decides")
        String decides() {
            return ""
                    + limiter.decide(LimitRequest.of(Subject.of("key", "own"), "many"))
                            .outcome();
        }
    }

    @BeforeAll
    static void start() {
        application = RunningApplication.start(List.of(Application.class, Endpoints.class), settings());
        records = application.bean(Records.class);
        store = application.bean(SickStore.class);
    }

    private static String[] settings() {
        List<String> settings = new ArrayList<>(List.of(
                "ratelimit.store.deadline=2s",
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.api-keys.enabled=true",
                "ratelimit.api-keys.guesses=1",
                "ratelimit.exempt.paths=/exempt/**",
                "ratelimit.exempt.authorities=ROLE_BOSS",
                "ratelimit.tiers.authorities.ROLE_PREMIUM=premium",
                "ratelimit.limits.strict.penalties[0].after=1",
                "ratelimit.limits.strict.penalties[0].block=2h",
                "ratelimit.rules.guests.authorities=ROLE_GUEST",
                "ratelimit.rules.guests.path=/fair/**",
                "ratelimit.rules.guests.priority=5",
                "ratelimit.rules.guests.action=block",
                "ratelimit.rules.shut.path=/shut/**",
                "ratelimit.rules.shut.action=block",
                "ratelimit.rules.shut.response.status=451",
                "ratelimit.rules.trial.path=/trial/**",
                "ratelimit.rules.trial.key=user",
                "ratelimit.rules.trial.action=shadow",
                "ratelimit.rules.trial.limits=one"));
        settings.addAll(limit("one", 1));
        settings.addAll(limit("many", 1000));
        settings.addAll(limit("strict", 1));
        settings.addAll(limit("letters", 1));
        settings.addAll(rule("flood", "/flood/**", "ip", "one", "local"));
        settings.addAll(rule("fair", "/fair/**", "user", "one", "local"));
        settings.addAll(rule("strict", "/strict/**", "ip", "strict", "local"));
        settings.addAll(rule("async", "/async/**", "ip", "many", "local"));
        settings.addAll(rule("secured", "/secured/**", "ip", "many", "local"));
        settings.addAll(rule("tried", "/trial/both", "ip", "many", "local"));
        settings.addAll(rule("open", "/store/open", "ip", "many", "open"));
        settings.addAll(rule("closed", "/store/closed", "ip", "many", "closed"));
        settings.addAll(rule("local", "/store/local", "ip", "many", "local"));
        return settings.toArray(String[]::new);
    }

    private static List<String> limit(String name, int maxRequests) {
        String prefix = "ratelimit.limits." + name + ".";
        return List.of(
                prefix + "algorithm=fixed-window", prefix + "max-requests=" + maxRequests, prefix + "window=3660d");
    }

    private static List<String> rule(String name, String path, String key, String limit, String onFailure) {
        String prefix = "ratelimit.rules." + name + ".";
        return List.of(
                prefix + "path=" + path,
                prefix + "key=" + key,
                prefix + "limits=" + limit,
                prefix + "on-failure=" + onFailure);
    }

    @AfterAll
    static void stop() {
        application.close();
        if (jetty != null) {
            jetty.close();
        }
    }

    @BeforeEach
    void forget() {
        address = "198.51.100." + ++addresses;
        records.all.clear();
    }

    private int status(String path, String... headers) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(headers));
        all.addAll(List.of("X-Forwarded-For", address));
        return application.get(path, all.toArray(String[]::new)).statusCode();
    }

    private static String[] as(String user) {
        return new String[] {"Authorization", basic(user, user)};
    }

    private static String basic(String user, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    /** The only record; it may come a moment after the response, and no other may follow. */
    private static RequestRecord only() {
        await().until(() -> !records.all.isEmpty());
        await().during(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(records.all).hasSize(1));
        return records.all.get(0);
    }

    private RequestRecord recordOf(String path, int expected, String... headers) throws Exception {
        assertThat(status(path, headers)).isEqualTo(expected);
        return only();
    }

    /** All of it but the path, which every test chooses. */
    private static ObjectAssert<Exchange> assertThatExchange(RequestRecord record) {
        Exchange exchange = record.exchange();
        return assertThat(new Exchange(
                exchange.method(),
                "",
                exchange.endpoint(),
                exchange.status(),
                exchange.address(),
                exchange.user(),
                exchange.apiKey(),
                exchange.tier()));
    }

    private Exchange exchange(
            String endpoint, int status, @Nullable String user, @Nullable String key, @Nullable String tier) {
        return new Exchange("GET", "", endpoint, status, address, user, key, tier);
    }

    private static List<String> limits(RequestRecord record) {
        return record.asked().stream()
                .flatMap(one -> one.request().items().stream())
                .map(item -> item.limitName() + " for " + item.rule())
                .toList();
    }

    @Test
    void requestDuringWhichABeanOfTheApplicationFails() throws Exception {
        RequestRecord record = recordOf("/fair/broken", 500, "X-API-Key", "broken");

        assertThat(record.asked()).isEmpty();
        assertThat(record.exchange().status()).isEqualTo(500);
    }

    @Test
    void allowedRequest() throws Exception {
        RequestRecord record = recordOf("/fair/1", 200, as("alice"));

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(record.allowed()).isTrue();
        assertThat(record.rule()).isEqualTo("fair");
        assertThat(record.retryAfter()).isZero();
        assertThat(limits(record)).containsExactly("one for fair");
        assertThatExchange(record).isEqualTo(exchange("/{area}/{id}", 200, "alice", null, "premium"));
        assertThat(record.at()).isBetween(Instant.now().minusSeconds(60), Instant.now());
        assertThat(record.took()).isPositive();
    }

    @Test
    void requestWithoutARule() throws Exception {
        RequestRecord record = recordOf("/free/1", 200, "X-API-Key", "right");

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(record.asked()).isEmpty();
        assertThatExchange(record).isEqualTo(exchange("/{area}/{id}", 200, "olga", "key-1", null));
    }

    @Test
    void requestThatReachesNoHandler() throws Exception {
        RequestRecord record = recordOf("/no/such/page", 404);

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(record.exchange().status()).isEqualTo(404);
        assertThat(record.exchange().path()).isEqualTo("/no/such/page");
    }

    @Test
    void methodOfTheRequest() throws Exception {
        assertThat(application
                        .post("/free/1", "text/plain", "x", "X-Forwarded-For", address)
                        .statusCode())
                .isEqualTo(200);

        assertThatExchange(only()).isEqualTo(new Exchange("POST", "", "/{area}/{id}", 200, address, null, null, null));
    }

    @Test
    void throttledRequest() throws Exception {
        assertThat(status("/flood/1")).isEqualTo(200);
        only();
        records.all.clear();

        RequestRecord record = recordOf("/flood/1", 429, as("alice"));

        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isEqualTo("flood");
        assertThat(limits(record)).containsExactly("one for flood");
        assertThatExchange(record).isEqualTo(exchange(null, 429, null, null, null));
    }

    @Test
    void requestUnderAPenalty() throws Exception {
        assertThat(status("/strict/1")).isEqualTo(200);
        assertThat(status("/strict/1")).isEqualTo(429);
        await().until(() -> records.all.size() == 2);
        records.all.clear();

        RequestRecord record = recordOf("/strict/1", 429);

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.rule()).isEqualTo("strict");
        assertThat(record.asked().get(0).decision().penaltyUntil()).isAfter(Instant.now());
    }

    @Test
    void requestThatARuleBlocksOnArrival() throws Exception {
        RequestRecord record = recordOf("/shut/1", 451, as("alice"));

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isEqualTo("shut");
        assertThat(record.asked()).isEmpty();
        assertThatExchange(record).isEqualTo(exchange(null, 451, null, null, null));
    }

    @Test
    void requestThatARuleBlocksAfterAuthentication() throws Exception {
        RequestRecord record = recordOf("/fair/1", 403, as("gus"));

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.rule()).isEqualTo("guests");
        assertThatExchange(record).isEqualTo(exchange(null, 403, "gus", null, "free"));
    }

    @ParameterizedTest
    @CsvSource({"user, blocked", "key, blocked"})
    void requestOfABlockedAccount(String by, String name) throws Exception {
        RequestRecord record = by.equals("user")
                ? recordOf("/free/1", 403, as(name))
                : recordOf("/free/1", 403, "X-API-Key", "of-blocked");

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isNull();
        assertThat(record.asked()).isEmpty();
        assertThat(record.retryAfter()).isBetween(Duration.ofHours(20), Duration.ofDays(1));
        assertThat(record.exchange().user()).isEqualTo("blocked");
        assertThat(record.exchange().apiKey()).isEqualTo(by.equals("key") ? "key-2" : null);
        assertThat(record.exchange().status()).isEqualTo(403);
    }

    @Test
    void requestThatIsExempt() throws Exception {
        RequestRecord byPath = recordOf("/exempt/1", 200);
        records.all.clear();
        RequestRecord byAuthority = recordOf("/fair/1", 200, as("boss"));

        assertThat(byPath.outcome()).isEqualTo(Outcome.EXEMPT);
        assertThat(byPath.allowed()).isTrue();
        assertThatExchange(byPath).isEqualTo(exchange("/{area}/{id}", 200, null, null, null));
        assertThat(byAuthority.outcome()).isEqualTo(Outcome.EXEMPT);
        assertThatExchange(byAuthority).isEqualTo(exchange("/{area}/{id}", 200, "boss", null, null));
    }

    @Test
    void requestWithAnUnknownKey() throws Exception {
        RequestRecord unknown = recordOf("/flood/1", 401, "X-API-Key", "wrong");
        assertThat(unknown.outcome()).isEqualTo(Outcome.UNKNOWN_API_KEY);
        assertThat(unknown.allowed()).isFalse();
        assertThat(limits(unknown)).containsExactly("api-key-guesses for null");
        assertThatExchange(unknown).isEqualTo(exchange(null, 401, null, null, null));

        for (String key : List.of("wrong", "right")) {
            records.all.clear();
            RequestRecord throttled = recordOf("/flood/1", 429, "X-API-Key", key);
            assertThat(throttled.outcome()).isEqualTo(Outcome.THROTTLED);
            assertThat(limits(throttled)).containsExactly("api-key-guesses for null");
            assertThatExchange(throttled).isEqualTo(exchange(null, 429, null, null, null));
        }
    }

    @Test
    void requestsWhileTheStoreFails() throws Exception {
        store.failing = true;
        try {
            RequestRecord open = recordOf("/store/open", 200);
            records.all.clear();
            RequestRecord closed = recordOf("/store/closed", 503);
            records.all.clear();
            RequestRecord local = recordOf("/store/local", 200);

            assertThat(open.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(open.allowed()).isTrue();
            assertThat(open.exchange().status()).isEqualTo(200);
            assertThat(closed.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(closed.allowed()).isFalse();
            assertThat(limits(closed)).containsExactly("many for closed");
            assertThatExchange(closed).isEqualTo(exchange(null, 503, null, null, null));
            assertThat(local.outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(local.decidedLocally()).isTrue();
            assertThat(limits(local)).containsExactly("many for local");
        } finally {
            store.failing = false;
            await().until(() -> status("/store/closed") == 200);
            // Its record may come after its response, in the middle of the next test.
            await().until(() -> records.all.stream()
                    .anyMatch(one -> one.exchange().path().equals("/store/closed")
                            && one.exchange().status() == 200));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/async/callable, 200",
        "/async/deferred, 200",
        "/async/events, 200",
        "/async/throws, 500",
        "/async/rejected, 418",
        "/async/timeout, 503"
    })
    void asynchronousRequest(String path, int status) throws Exception {
        RequestRecord record = recordOf(path, status, as("alice"));

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(limits(record)).containsExactly("many for async");
        assertThatExchange(record).isEqualTo(exchange(path, status, "alice", null, null));
    }

    @ParameterizedTest
    @CsvSource({"/sync/throws, 500, /sync/throws", "/sync/teapot, 418, /sync/teapot", "/sync/forward, 200, /sync/target"
    })
    void dispatchedRequest(String path, int status, String endpoint) throws Exception {
        RequestRecord record = recordOf(path, status);

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThatExchange(record).isEqualTo(exchange(endpoint, status, null, null, null));
    }

    @Test
    void includingRequest() throws Exception {
        RequestRecord record = recordOf("/sync/include", 200);

        assertThatExchange(record).isEqualTo(exchange("/sync/include", 200, null, null, null));
    }

    @ParameterizedTest
    @CsvSource({"/secured/1, 401", "/admin/1, 403"})
    void requestThatSpringSecurityRejects(String path, int status) throws Exception {
        String[] who = status == 401 ? new String[] {"Authorization", basic("alice", "wrong")} : as("alice");

        RequestRecord record = recordOf(path, status, who);

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(record.allowed()).isTrue();
        assertThat(limits(record)).isEqualTo(status == 401 ? List.of("many for secured") : List.of());
        assertThat(record.exchange().status()).isEqualTo(status);
        assertThat(record.exchange().endpoint()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"/flood/letters, one for flood", "/async/letters, many for async"})
    void denialOfALimitedMethodIsInTheRecordOfItsRequest(String path, String byRule) throws Exception {
        Subject subject = Subject.ip(address);
        assertThat(application
                        .bean(RateLimiter.class)
                        .decide(subject, "letters")
                        .allowed())
                .isTrue();
        assertThat(only().exchange()).isNull();
        records.all.clear();

        RequestRecord record = recordOf(path, 429);

        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isNull();
        assertThat(limits(record)).containsExactly(byRule, "letters for null");
        assertThat(record.asked())
                .extracting(Asked::decision)
                .extracting(decision -> decision.allowed())
                .containsExactly(true, false);
        assertThatExchange(record).isEqualTo(exchange(path, 429, null, null, null));
    }

    @Test
    void denialThatTheApplicationHandlesIsStillADenial() throws Exception {
        application.bean(RateLimiter.class).decide(Subject.ip(address), "letters");
        records.all.clear();

        RequestRecord record = recordOf("/sync/handled", 200);

        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.exchange().status()).isEqualTo(200);
    }

    @Test
    void decisionOfTheApplicationHasARecordOfItsOwn() throws Exception {
        assertThat(status("/sync/decides")).isEqualTo(200);
        await().until(() -> records.all.size() >= 2);

        assertThat(records.all).hasSize(2);
        RequestRecord own = records.all.get(0);
        assertThat(own.exchange()).isNull();
        assertThat(limits(own)).containsExactly("many for null");
        RequestRecord request = records.all.get(1);
        assertThat(request.asked()).isEmpty();
        assertThatExchange(request).isEqualTo(exchange("/sync/decides", 200, null, null, null));
    }

    @ParameterizedTest
    @CsvSource({
        "/sync/target, 200",
        "/sync/throws, 500",
        "/sync/forward, 200",
        "/async/callable, 200",
        "/async/deferred, 200",
        "/async/events, 200",
        "/async/throws, 500",
        "/async/timeout, 503"
    })
    void oneRecordOnJettyToo(String path, int status) throws Exception {
        Records onJetty = jetty().bean(Records.class);
        onJetty.all.clear();

        assertThat(jetty().get(path).statusCode()).isEqualTo(status);

        await().until(() -> !onJetty.all.isEmpty());
        await().during(Duration.ofMillis(100))
                .atMost(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(onJetty.all).hasSize(1));
        assertThat(onJetty.all.get(0).exchange().status()).isEqualTo(status);
    }

    private static RunningApplication jetty() {
        if (jetty == null) {
            jetty = RunningApplication.start(Container.JETTY, List.of(Application.class, Endpoints.class), settings());
        }
        return jetty;
    }

    // metrics, which are made from records

    private static double counted(String limit, String rule, String outcome) {
        Counter counter = application
                .bean(MeterRegistry.class)
                .find("ratelimit.requests")
                .tags("limit", limit, "rule", rule, "outcome", outcome)
                .counter();
        return counter == null ? 0 : counter.count();
    }

    private static double countedInAll() {
        return application.bean(MeterRegistry.class).find("ratelimit.requests").counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    private static long timed() {
        return application
                .bean(MeterRegistry.class)
                .get("ratelimit.decision")
                .timer()
                .count();
    }

    private void assertCounted(String limit, String rule, String outcome, String path, String... headers)
            throws Exception {
        records.all.clear();
        double before = counted(limit, rule, outcome);
        double all = countedInAll();
        assertThat(status(path, headers)).isPositive();
        only();

        assertThat(counted(limit, rule, outcome) - before)
                .as(outcome + " of " + path)
                .isEqualTo(1);
        assertThat(countedInAll() - all).as("all counts of " + path).isEqualTo(1);
    }

    @Test
    void outcomesWithoutALimitAreCounted() throws Exception {
        long timed = timed();
        assertCounted("none", "shut", "blocked", "/shut/1");
        assertCounted("none", "guests", "blocked", "/fair/1", as("gus"));
        assertCounted("none", "none", "blocked", "/free/1", as("blocked"));
        assertCounted("none", "none", "exempt", "/exempt/1");
        assertCounted("none", "none", "exempt", "/fair/1", as("boss"));

        assertThat(timed()).as("no limit was asked").isEqualTo(timed);
    }

    @Test
    void unknownKeyIsCountedBesideTheGuess() throws Exception {
        double unknown = counted("none", "none", "unknown_api_key");
        double guesses = counted("api-key-guesses", "none", "allowed");
        double all = countedInAll();

        recordOf("/free/1", 401, "X-API-Key", "wrong");

        assertThat(counted("none", "none", "unknown_api_key") - unknown).isEqualTo(1);
        assertThat(counted("api-key-guesses", "none", "allowed") - guesses).isEqualTo(1);
        assertThat(countedInAll() - all).isEqualTo(2);
    }

    @Test
    void outcomesOfLimitsAreCountedAsBefore() throws Exception {
        long timed = timed();
        assertCounted("one", "flood", "allowed", "/flood/1");
        assertCounted("one", "flood", "throttled", "/flood/1");
        assertCounted("strict", "strict", "allowed", "/strict/1");
        assertCounted("strict", "strict", "throttled", "/strict/1");
        assertCounted("strict", "strict", "blocked", "/strict/1");

        assertThat(timed() - timed).isEqualTo(5);
        double all = countedInAll();
        records.all.clear();
        recordOf("/free/1", 200);
        assertThat(countedInAll()).as("a request without a rule is not counted").isEqualTo(all);
    }

    @Test
    void trialIsNotTimedAndDoesNotDisturbTheHeaders() throws Exception {
        long timed = timed();
        recordOf("/trial/alone", 200);
        assertThat(timed()).isEqualTo(timed);
        records.all.clear();

        var response = application.get("/trial/both", "X-Forwarded-For", address);

        only();
        String rateLimit = response.headers().firstValue("RateLimit").orElseThrow();
        long seconds = Long.parseLong(rateLimit.substring(rateLimit.indexOf(";t=") + 3));
        assertThat(seconds).as(rateLimit).isLessThanOrEqualTo(3660L * 24 * 3600);
        assertThat(timed() - timed).isEqualTo(1);
    }
}
