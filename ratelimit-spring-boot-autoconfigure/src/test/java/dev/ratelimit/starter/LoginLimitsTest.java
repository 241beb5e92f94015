package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.store.LimitStore;
import jakarta.servlet.DispatcherType;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.ResponseEntity;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** {@code ratelimit.login.limit} limits failed logins, however an application checks passwords. */
class LoginLimitsTest {

    private static final String FIRST = "198.51.100.1";

    @TempDir
    private Path folder;

    @RestController
    static class Endpoints {

        @GetMapping({"/closed", "/api/closed", "/exempt"})
        String closed() {
            return "x";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Users {

        @Bean
        UserDetailsService users() {
            InMemoryUserDetailsManager users = new InMemoryUserDetailsManager();
            for (String name : List.of("alice", "bob")) {
                users.createUser(User.withUsername(name)
                        .password("{noop}" + name)
                        .roles("USER")
                        .build());
            }
            return name -> users.loadUserByUsername(name); // a manager would hash the passwords anew
        }
    }

    /** As most applications are: one chain, with form and Basic. */
    @Configuration(proxyBeanMethods = false)
    static class OneChain extends Users {

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.csrf(AbstractHttpConfigurer::disable)
                    .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .formLogin(Customizer.withDefaults())
                    .httpBasic(Customizer.withDefaults())
                    .rememberMe(remembered -> remembered.alwaysRemember(true).key("test"))
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoChains extends Users {

        @Bean
        @Order(1)
        SecurityFilterChain api(HttpSecurity http) {
            return http.securityMatcher("/api/**")
                    .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        @Order(2)
        SecurityFilterChain pages(HttpSecurity http) {
            return http.csrf(AbstractHttpConfigurer::disable)
                    .authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(DispatcherType.ERROR)
                            .permitAll() // also for the answers of the other chain
                            .anyRequest()
                            .authenticated())
                    .formLogin(Customizer.withDefaults())
                    .build();
        }
    }

    /** Checks passwords in its own way, and is no bean. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OwnManager {

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .authenticationManager(OwnManager::check)
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        static Authentication check(Authentication login) {
            if (login.getName().equals("directory-is-down")) {
                throw new AuthenticationServiceException("no directory");
            }
            if (!login.getName().equals(login.getCredentials())) {
                throw new BadCredentialsException("wrong");
            }
            return UsernamePasswordAuthenticationToken.authenticated(login.getName(), null, List.of());
        }
    }

    /** Takes its time, as a good hash does, and knows how many passwords it has looked at. */
    static class SlowManager implements AuthenticationManager {

        private final AtomicInteger looks = new AtomicInteger();

        @Override
        public Authentication authenticate(Authentication login) {
            looks.incrementAndGet();
            try {
                Thread.sleep(30);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return OwnManager.check(login);
        }

        int looks() {
            return looks.get();
        }
    }

    /** A manager that is a bean, asked by an endpoint and by the chain. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ManagerBean {

        @Bean
        SlowManager passwords() {
            return new SlowManager();
        }

        @Bean
        SecurityFilterChain security(HttpSecurity http, AuthenticationManager passwords) {
            return http.csrf(AbstractHttpConfigurer::disable)
                    .authorizeHttpRequests(requests -> requests.requestMatchers("/token")
                            .permitAll()
                            .anyRequest()
                            .authenticated())
                    .authenticationManager(passwords)
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        Tokens tokens(SlowManager passwords) {
            return new Tokens(passwords);
        }
    }

    @RestController
    static class Tokens {

        private final AuthenticationManager passwords;

        Tokens(SlowManager passwords) {
            this.passwords = passwords;
        }

        @PostMapping("/token")
        ResponseEntity<String> token(@RequestParam String name, @RequestParam String password) {
            try {
                return ResponseEntity.ok(passwords
                        .authenticate(UsernamePasswordAuthenticationToken.unauthenticated(name, password))
                        .getName());
            } catch (AuthenticationException e) {
                return ResponseEntity.status(401).build();
            }
        }
    }

    private RunningApplication start(Class<?> application, String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.limits.login.algorithm=sliding-log",
                "ratelimit.limits.login.max-requests=5",
                "ratelimit.limits.login.window=1d",
                "ratelimit.login.limit=login"));
        all.addAll(Arrays.asList(settings));
        return RunningApplication.start(List.of(application, Endpoints.class), all.toArray(String[]::new));
    }

    private static String named(HttpResponse<String> response, String header) {
        return response.headers().firstValue(header).orElse("");
    }

    @Test
    void withoutThePropertyNothingIsLimited() throws Exception {
        try (RunningApplication application =
                RunningApplication.start(List.of(OneChain.class, Endpoints.class), "ratelimit.store.type=memory")) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.times(60, () -> client.status("alice", "wrong"))).containsOnly(401);
        }
    }

    @Test
    void guessesWithBasicAreDeniedByAddressAndName() throws Exception {
        try (RunningApplication application = start(OneChain.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            HttpResponse<String> first = client.basic("/closed", "alice", "wrong");
            assertThat(first.statusCode()).isEqualTo(401);
            assertThat(named(first, "X-RateLimit-Remaining")).isEqualTo("4");
            assertThat(named(first, "WWW-Authenticate")).startsWith("Basic");
            assertThat(client.times(4, () -> client.status("alice", "wrong"))).containsOnly(401);

            HttpResponse<String> denied = client.basic("/closed", "alice", "wrong");
            assertThat(denied.statusCode()).isEqualTo(429);
            assertThat(named(denied, "Content-Type")).isEqualTo("application/problem+json");
            assertThat(named(denied, "X-RateLimit-Limit")).isEqualTo("5");
            assertThat(named(denied, "X-RateLimit-Remaining")).isEqualTo("0");
            assertThat(Long.parseLong(named(denied, "Retry-After"))).isBetween(86_000L, 86_400L);
            assertThat(denied.body()).contains("\"violated-policies\":[\"login\"]");

            assertThat(client.status("alice", "alice"))
                    .as("the correct password does not help any more")
                    .isEqualTo(429);
            assertThat(client.status("ALICE", "wrong")).as("the same name").isEqualTo(429);
            assertThat(client.status("\uFF41lice", "wrong")).as("the same name").isEqualTo(429);
            assertThat(client.status("bob", "bob")).as("another name").isEqualTo(200);
            assertThat(new LoginClient(application, "198.51.100.2").status("alice", "alice"))
                    .as("another address")
                    .isEqualTo(200);
        }
    }

    @Test
    void guessesWithAFormAreDenied() throws Exception {
        try (RunningApplication application = start(OneChain.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            for (int i = 0; i < 5; i++) {
                HttpResponse<String> wrong = client.form("alice", "wrong");
                assertThat(named(wrong, "Location")).endsWith("/login?error");
            }
            assertThat(client.form("alice", "alice").statusCode()).isEqualTo(429);
            assertThat(client.status("alice", "alice")).as("with Basic, too").isEqualTo(429);
            assertThat(named(client.form("bob", "bob"), "Location")).endsWith("/");
        }
    }

    @Test
    void everyChainIsLimitedAndTheyShareTheCount() throws Exception {
        try (RunningApplication application = start(TwoChains.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.times(
                            3,
                            () -> client.basic("/api/closed", "alice", "wrong").statusCode()))
                    .containsOnly(401);
            assertThat(client.times(2, () -> client.form("alice", "wrong").statusCode()))
                    .containsOnly(302);

            assertThat(client.basic("/api/closed", "alice", "alice").statusCode())
                    .isEqualTo(429);
            assertThat(client.form("alice", "alice").statusCode()).isEqualTo(429);
        }
    }

    @Test
    void managerOfOnesOwnIsLimited() throws Exception {
        try (RunningApplication application = start(OwnManager.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.times(6, () -> client.status("alice", "wrong")))
                    .containsExactly(401, 401, 401, 401, 401, 429);
            assertThat(client.status("bob", "bob")).isEqualTo(200);
        }
    }

    @Test
    void managerThatIsABeanIsLimitedAndKeepsItsClassAndCountsOnce() throws Exception {
        try (RunningApplication application = start(ManagerBean.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.times(3, () -> token(client, "wrong"))).containsOnly(401);
            assertThat(client.times(2, () -> client.status("alice", "wrong"))).containsOnly(401);

            HttpResponse<String> denied =
                    client.post("/token", "application/x-www-form-urlencoded", "name=alice&password=alice");
            assertThat(denied.statusCode()).isEqualTo(429);
            assertThat(denied.body()).contains("\"violated-policies\":[\"login\"]");
            assertThat(client.status("alice", "alice")).isEqualTo(429);
            assertThat(application.bean(SlowManager.class).looks()).isEqualTo(5);
        }
    }

    private static int token(LoginClient client, String password) throws Exception {
        return client.post("/token", "application/x-www-form-urlencoded", "name=alice&password=" + password)
                .statusCode();
    }

    @Test
    void ofGuessesAtOnceNoMoreThanTheLimitAreAnswered() throws Exception {
        try (RunningApplication application = start(ManagerBean.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            List<Integer> answers = client.together(30, () -> client.status("alice", "wrong"));

            assertThat(answers).filteredOn(status -> status == 401).hasSize(5);
            assertThat(answers).filteredOn(status -> status == 429).hasSize(25);
            assertThat(client.status("alice", "alice"))
                    .as("the correct password, once the guesses are used up")
                    .isEqualTo(429);
        }
    }

    /** Says no only when it is told to, as a chain of slow directories does. */
    static class SlowToRefuse implements AuthenticationManager {

        private final AtomicInteger asked = new AtomicInteger();
        private final CountDownLatch refuse = new CountDownLatch(1);

        @Override
        public Authentication authenticate(Authentication login) {
            asked.incrementAndGet();
            try {
                return OwnManager.check(login);
            } catch (BadCredentialsException e) {
                awaitRefusal();
                throw e;
            }
        }

        private void awaitRefusal() {
            try {
                assertThat(refuse.await(1, TimeUnit.MINUTES)).isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        int asked() {
            return asked.get();
        }

        void refuse() {
            refuse.countDown();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SlowFailures {

        @Bean
        SlowToRefuse passwords() {
            return new SlowToRefuse();
        }

        @Bean
        SecurityFilterChain security(HttpSecurity http, AuthenticationManager passwords) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .authenticationManager(passwords)
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    @Test
    void correctGuessIsNotToldFromEarlierOnesThatTakeLongerToFail() throws Exception {
        try (RunningApplication application = start(SlowFailures.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            SlowToRefuse passwords = application.bean(SlowToRefuse.class);
            CompletableFuture<List<Integer>> wrong = CompletableFuture.supplyAsync(() ->
                    quietly(() -> client.together(20, () -> client.status("alice", "wrong"))));
            await().until(() -> passwords.asked() == 20);
            CompletableFuture<Integer> correct =
                    CompletableFuture.supplyAsync(() -> quietly(() -> client.status("alice", "alice")));
            await().until(() -> passwords.asked() == 21);

            passwords.refuse();

            assertThat(correct.get(1, TimeUnit.MINUTES)).isEqualTo(429);
            assertThat(wrong.get(1, TimeUnit.MINUTES))
                    .filteredOn(status -> status == 401)
                    .hasSize(5);
        }
    }

    private static <T> T quietly(Callable<T> call) {
        try {
            return call.call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void correctLoginsAtOnceCountForNothingAndBringNoPenalty() throws Exception {
        try (RunningApplication application = start(
                ManagerBean.class,
                "ratelimit.limits.login.penalties[0].after=1",
                "ratelimit.limits.login.penalties[0].block=1h")) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.together(30, () -> client.status("alice", "alice")))
                    .containsOnly(200);

            assertThat(client.times(6, () -> client.status("alice", "wrong")))
                    .containsExactly(401, 401, 401, 401, 401, 429);
        }
    }

    @Test
    void correctLoginsDoNotCountAndClearNothing() throws Exception {
        try (RunningApplication application = start(OneChain.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.times(10, () -> client.status("alice", "alice"))).containsOnly(200);
            assertThat(client.times(4, () -> client.status("alice", "wrong"))).containsOnly(401);
            assertThat(client.times(10, () -> client.status("alice", "alice"))).containsOnly(200);
            assertThat(client.times(2, () -> client.status("alice", "wrong"))).containsExactly(401, 429);
        }
    }

    @Test
    void manyNamesFromOneAddressAreDenied() throws Exception {
        try (RunningApplication application = start(OneChain.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            for (int i = 0; i < 50; i++) {
                assertThat(client.status("user" + i, "Summer2026")).isEqualTo(401);
            }
            HttpResponse<String> denied = client.basic("/closed", "user50", "Summer2026");
            assertThat(denied.statusCode()).isEqualTo(429);
            assertThat(denied.body()).contains("\"violated-policies\":[\"login:address\"]");
            assertThat(new LoginClient(application, "198.51.100.2").status("alice", "alice"))
                    .isEqualTo(200);
        }
    }

    @Test
    void manyAddressesAreDeniedWithoutLockingTheOwnerOut() throws Exception {
        String[] byName = {
            "ratelimit.login.name-limit=loose",
            "ratelimit.limits.loose.base=login",
            "ratelimit.limits.loose.max-requests=20"
        };
        try (RunningApplication application = start(OneChain.class, byName);
                RunningApplication other = start(OneChain.class, byName)) {
            LoginClient owner = new LoginClient(application, FIRST);
            assertThat(owner.status("alice", "alice")).isEqualTo(200);
            for (int i = 0; i < 20; i++) {
                assertThat(new LoginClient(application, "203.0.113." + i).status("alice", "wrong"))
                        .isEqualTo(401);
            }
            HttpResponse<String> denied =
                    new LoginClient(application, "203.0.113.99").basic("/closed", "alice", "alice");
            assertThat(denied.statusCode()).isEqualTo(429);
            assertThat(denied.body()).contains("\"violated-policies\":[\"loose\"]");

            assertThat(owner.times(3, () -> owner.status("alice", "alice"))).containsOnly(200);
            assertThat(new LoginClient(other, FIRST).status("alice", "alice"))
                    .as("another instance knows the owner's address, too")
                    .isEqualTo(200);
            assertThat(new LoginClient(other, "203.0.113.98").status("alice", "alice"))
                    .isEqualTo(429);
            assertThat(owner.times(6, () -> owner.status("alice", "wrong")))
                    .as("the limit by address and name still holds")
                    .containsExactly(401, 401, 401, 401, 401, 429);
        }
    }

    @Test
    void withoutALimitByNameManyAddressesMayGuess() throws Exception {
        try (RunningApplication application = start(OneChain.class, "ratelimit.login.name-limit=none")) {
            Set<Integer> answers = ConcurrentHashMap.newKeySet();
            for (int i = 0; i < 110; i++) {
                answers.add(new LoginClient(application, "203.0.113." + i).status("alice", "wrong"));
            }
            assertThat(answers).containsExactly(401);
        }
    }

    @Test
    void answersDoNotTellWhichNamesExist() throws Exception {
        try (RunningApplication application = start(OneChain.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            for (int i = 0; i < 7; i++) {
                HttpResponse<String> exists = client.basic("/closed", "alice", "wrong");
                HttpResponse<String> not = client.basic("/closed", "nobody", "wrong");
                assertThat(not.statusCode()).isEqualTo(exists.statusCode());
                assertThat(named(not, "X-RateLimit-Remaining")).isEqualTo(named(exists, "X-RateLimit-Remaining"));
                assertThat(not.headers().map().keySet())
                        .isEqualTo(exists.headers().map().keySet());
            }
        }
    }

    @Test
    void sessionsAndRememberedUsersAreNotLogins() throws Exception {
        try (RunningApplication application = start(OneChain.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            List<String> cookies = client.form("alice", "alice").headers().allValues("Set-Cookie").stream()
                    .map(cookie -> cookie.substring(0, cookie.indexOf(';')))
                    .toList();
            assertThat(client.times(6, () -> client.status("alice", "wrong"))).endsWith(429);

            for (String kind : List.of("JSESSIONID", "remember-me")) {
                String cookie = cookies.stream()
                        .filter(one -> one.startsWith(kind + "="))
                        .findFirst()
                        .orElseThrow();
                for (int i = 0; i < 7; i++) {
                    assertThat(application
                                    .get("/closed", "X-Forwarded-For", FIRST, "Cookie", cookie)
                                    .statusCode())
                            .as(kind)
                            .isEqualTo(200);
                }
            }
        }
    }

    @Test
    void exemptAddressesAreNotLimitedButExemptPathsAre() throws Exception {
        try (RunningApplication application =
                start(OneChain.class, "ratelimit.exempt.paths=/exempt", "ratelimit.exempt.addresses=192.0.2.0/24")) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.times(
                            6, () -> client.basic("/exempt", "alice", "wrong").statusCode()))
                    .endsWith(401, 429);
            LoginClient exempt = new LoginClient(application, "192.0.2.1");
            assertThat(exempt.times(60, () -> exempt.status("alice", "wrong"))).containsOnly(401);
        }
    }

    @Test
    void passwordsThatCouldNotBeCheckedDoNotCount() throws Exception {
        try (RunningApplication application = start(OwnManager.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(client.times(10, () -> client.status("directory-is-down", "x")))
                    .containsOnly(401);
        }
    }

    @Test
    void loginsWithoutANameCountByAddress() throws Exception {
        try (RunningApplication application = start(OneChain.class)) {
            LoginClient client = new LoginClient(application, FIRST);
            assertThat(Set.copyOf(client.times(50, () -> client.status(" ", "x"))))
                    .containsExactly(401);
            assertThat(client.status(" ", "x")).isEqualTo(429);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OnSickStore extends OneChain {

        @Bean
        FailingStoreTest.SickStore store() {
            return new FailingStoreTest.SickStore();
        }
    }

    @ParameterizedTest
    @CsvSource({"local, 401, 429", "open, 401, 401", "closed, 503, 503"})
    void failurePolicyAppliesWhenTheStoreFails(String policy, int first, int sixth) throws Exception {
        try (RunningApplication application = start(OnSickStore.class, "ratelimit.on-failure=" + policy)) {
            LoginClient client = new LoginClient(application, FIRST);
            ((FailingStoreTest.SickStore) application.bean(LimitStore.class)).failing = true;

            List<Integer> answers = client.times(6, () -> client.status("alice", "wrong"));
            assertThat(answers.get(0)).isEqualTo(first);
            assertThat(answers.get(5)).isEqualTo(sixth);
            assertThat(Collections.frequency(answers, first)).isGreaterThanOrEqualTo(5);
        }
    }
}
