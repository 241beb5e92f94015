package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.Quota;
import dev.ratelimit.starter.FailingStoreTest.SickStore;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

/** A request that is charged by its address on arrival, and rejected later. */
class GivenBackTest {

    private static final int MANY = 100;

    private static RunningApplication application;
    private static RateLimiter limiter;
    private static int addresses;

    private String address;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        /** A store that is asked in groups, so that leases are used. */
        @Bean
        SickStore store() {
            return new SickStore();
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
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.requestMatchers("/api/admin")
                            .hasRole("ADMIN")
                            .anyRequest()
                            .authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(user("alice"), user("bob"), user("blocked"));
        }

        private static UserDetails user(String name) {
            return User.withUsername(name)
                    .password("{noop}" + name)
                    .roles(name.toUpperCase(Locale.ROOT))
                    .build();
        }

        /** Between the two filters of the limiter, it leads the request to the path of a header. */
        @Bean
        FilterRegistrationBean<OncePerRequestFilter> rerouting() {
            FilterRegistrationBean<OncePerRequestFilter> filter = new FilterRegistrationBean<>(new Rerouting());
            filter.setOrder(-105);
            return filter;
        }
    }

    static final class Rerouting extends OncePerRequestFilter {

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String path = request.getHeader("X-Reroute");
            chain.doFilter(path == null ? request : rerouted(request, path), response);
        }

        private static HttpServletRequest rerouted(HttpServletRequest request, String path) {
            return new HttpServletRequestWrapper(request) {
                @Override
                public String getRequestURI() {
                    return path;
                }

                @Override
                public String getServletPath() {
                    return path;
                }
            };
        }
    }

    @RestController
    static class Endpoints {

        @GetMapping("/**")
        String page() {
            return "ok";
        }

        @GetMapping("/parcels")
        @RateLimited(limit = "parcels", key = "ip", countWhen = "#status == 200")
        @RateLimited(limit = "letters", key = "ip")
        String parcel() {
            return "sent";
        }

        @GetMapping("/api/letters")
        @RateLimited(limit = "letters", key = "ip")
        String letter() {
            return "sent";
        }
    }

    @BeforeAll
    static void start() {
        List<String> settings = new ArrayList<>(List.of(
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.exempt.paths=/health",
                "ratelimit.limits.paced.min-interval=1h",
                "ratelimit.limits.leased.lease=10"));
        for (String limit : List.of("address", "paced", "leased", "rerouted", "parcels")) {
            settings.addAll(limit(limit, MANY));
        }
        settings.addAll(limit("one", 1));
        settings.addAll(limit("letters", 1));
        settings.addAll(rule("address", "/api/**", "ip", "address"));
        settings.addAll(rule("paced", "/paced", "ip", "paced"));
        settings.addAll(rule("leased", "/leased", "ip", "leased"));
        settings.addAll(rule("rerouted", "/rerouted", "ip", "rerouted"));
        settings.addAll(rule("tight", "/tight", "ip", "one"));
        settings.addAll(rule("fair", "/api/**", "user+ip", "one"));
        settings.addAll(rule("fair-paced", "/paced", "user", "one"));
        settings.addAll(rule("fair-rerouted", "/rerouted", "user+ip", "one"));
        settings.addAll(limit("for-bob", MANY));
        settings.addAll(limit("for-alice", 1));
        settings.addAll(rule("bob", "/leased", "user", "for-bob"));
        settings.addAll(rule("alice", "/leased", "user", "for-alice"));
        settings.add("ratelimit.rules.alice.authorities=ROLE_ALICE");
        application =
                RunningApplication.start(List.of(Application.class, Endpoints.class), settings.toArray(String[]::new));
        limiter = application.bean(RateLimiter.class);
    }

    private static List<String> limit(String name, int maxRequests) {
        String prefix = "ratelimit.limits." + name + ".";
        return List.of(
                prefix + "algorithm=fixed-window", prefix + "max-requests=" + maxRequests, prefix + "window=3660d");
    }

    private static List<String> rule(String name, String path, String key, String limit) {
        String prefix = "ratelimit.rules." + name + ".";
        return List.of(prefix + "path=" + path, prefix + "key=" + key, prefix + "limits=" + limit);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @BeforeEach
    void comeFromAnotherAddress() {
        address = newAddress();
    }

    private static String newAddress() {
        return "198.51.100." + ++addresses;
    }

    private int as(String user, String path, String... headers) throws IOException, InterruptedException {
        return send(user, user, path, headers);
    }

    private int send(String user, String password, String path, String... headers)
            throws IOException, InterruptedException {
        String credentials =
                Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
        List<String> all = new ArrayList<>(List.of(headers));
        all.addAll(List.of("X-Forwarded-For", address, "Authorization", "Basic " + credentials));
        return application.get(path, all.toArray(String[]::new)).statusCode();
    }

    private long charged(String limit) {
        return MANY - limiter.peek(Subject.ip(address), limit).remaining();
    }

    @Test
    void chargeOnArrivalIsGivenBackWhenTheUserIsThrottled() throws Exception {
        assertThat(as("alice", "/api/x")).isEqualTo(200);
        assertThat(charged("address")).isEqualTo(1);

        for (int i = 0; i < 5; i++) {
            assertThat(as("alice", "/api/x")).isEqualTo(429);
        }

        assertThat(charged("address")).isEqualTo(1);
        assertThat(as("bob", "/api/x")).isEqualTo(200);
        assertThat(charged("address")).isEqualTo(2);
    }

    @Test
    void chargeThatWasGivenBackIsCountedAsUncharged() throws Exception {
        double allowed = counted("address", "allowed");
        double uncharged = counted("address", "uncharged");
        assertThat(as("alice", "/api/x")).isEqualTo(200);
        assertThat(as("alice", "/api/x")).isEqualTo(429);

        await().until(() -> counted("address", "uncharged") - uncharged == 1);
        assertThat(counted("address", "allowed") - allowed).isEqualTo(1);
    }

    @Test
    void reservationOfADeniedCallIsCountedAsUncharged() throws Exception {
        double allowed = counted("parcels", "allowed");
        double uncharged = counted("parcels", "uncharged");
        assertThat(as("alice", "/parcels")).isEqualTo(200);
        assertThat(as("alice", "/parcels")).isEqualTo(429);

        await().until(() -> counted("parcels", "uncharged") - uncharged == 1);
        assertThat(counted("parcels", "allowed") - allowed).isEqualTo(1);
        assertThat(charged("parcels")).isEqualTo(1);
    }

    private static double counted(String limit, String outcome) {
        return application
                .bean(MeterRegistry.class)
                .find("ratelimit.requests")
                .tags("limit", limit, "outcome", outcome)
                .counters()
                .stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void nothingIsLostOrGivenBackTwiceByManyAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<Integer>> statuses = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                statuses.add(threads.submit(() -> as("alice", "/api/x")));
            }
            int passed = 0;
            for (Future<Integer> status : statuses) {
                assertThat(status.get()).isIn(200, 429);
                passed += status.get() == 200 ? 1 : 0;
            }
            assertThat(passed).isEqualTo(1);
        } finally {
            threads.shutdownNow();
        }
        assertThat(charged("address")).isEqualTo(1);
    }

    @Test
    void blockedAccountKeepsTheChargeOfItsAddress() throws Exception {
        assertThat(as("blocked", "/api/x")).isEqualTo(403);

        assertThat(charged("address")).isEqualTo(1);
    }

    @Test
    void timeOfAGivenBackRequestDoesNotCountForTheInterval() throws Exception {
        assertThat(as("alice", "/paced")).isEqualTo(200);
        address = newAddress();

        assertThat(as("alice", "/paced")).as("alice has used up her own").isEqualTo(429);
        assertThat(as("bob", "/paced")).as("the address has not sent anything").isEqualTo(200);
        assertThat(as("bob", "/paced")).isEqualTo(429);
        assertThat(charged("paced")).isEqualTo(1);
    }

    /** A lease is given back once it was not used for a quarter of a second: the permit of a slower request stays charged. */
    @Test
    void permitOfALeaseIsGivenBack() throws Exception {
        assertThat(as("alice", "/leased")).isEqualTo(200);
        long passed = 1;
        long slow = 0;
        for (int i = 0; i < 20; i++) {
            assertThat(as("bob", "/leased")).isEqualTo(200);
            long start = System.nanoTime();
            assertThat(as("alice", "/leased")).isEqualTo(429);
            passed++;
            slow += System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(200) ? 1 : 0;
        }

        long least = passed;
        long most = passed + slow;
        await().untilAsserted(() -> assertThat(charged("leased")).isBetween(least, most));
    }

    @Test
    void unauthenticatedRequestKeepsItsCharge() throws Exception {
        assertThat(send("alice", "wrong", "/api/x")).isEqualTo(401);
        assertThat(send("mallory", "guess", "/api/x")).isEqualTo(401);

        assertThat(charged("address")).isEqualTo(2);
    }

    @Test
    void forbiddenRequestKeepsItsCharge() throws Exception {
        assertThat(as("alice", "/api/admin")).isEqualTo(403);

        assertThat(charged("address")).isEqualTo(1);
    }

    /** It has passed the gate and reached the application, which may also handle the denial itself. */
    @Test
    void denialOfALimitedMethodKeepsTheChargesOfTheRequest() throws Exception {
        assertThat(as("alice", "/api/letters")).isEqualTo(200);
        assertThat(as("bob", "/api/letters")).isEqualTo(429);

        assertThat(charged("address")).isEqualTo(2);
        assertThat(limiter.peek(Subject.user("bob").and("ip", address), "one").remaining())
                .isZero();
    }

    @Test
    void requestThatIsRejectedOnArrivalIsChargedNothing() throws Exception {
        for (int i = 0; i < MANY; i++) {
            assertThat(limiter.decide(Subject.ip(address), "address").allowed()).isTrue();
        }

        assertThat(as("alice", "/api/x")).isEqualTo(429);

        Subject alice = Subject.user("alice").and("ip", address);
        assertThat(limiter.peek(alice, "one").remaining()).isEqualTo(1);
        assertThat(charged("address")).isEqualTo(MANY);
    }

    @Test
    void everyChargeOfAReroutedRequestIsGivenBack() throws Exception {
        String[] rerouted = {"X-Reroute", "/rerouted"};
        assertThat(as("alice", "/api/x", rerouted)).isEqualTo(200);
        assertThat(charged("address")).isEqualTo(1);
        assertThat(charged("rerouted")).isEqualTo(1);

        assertThat(as("alice", "/api/x", rerouted)).isEqualTo(429);

        assertThat(charged("address")).isEqualTo(1);
        assertThat(charged("rerouted")).isEqualTo(1);
    }

    @Test
    void chargeOnArrivalIsGivenBackWhenTheNewPathOfTheRequestIsThrottled() throws Exception {
        assertThat(as("bob", "/tight")).isEqualTo(200);

        assertThat(as("alice", "/api/x", "X-Reroute", "/tight")).isEqualTo(429);

        assertThat(charged("address")).isZero();
    }

    @Test
    void reroutedRequestDoesNotTakeAnExemptionAlong() throws Exception {
        assertThat(as("bob", "/health")).isEqualTo(200);
        assertThat(as("bob", "/health", "X-Reroute", "/tight")).isEqualTo(200);
        assertThat(as("bob", "/health", "X-Reroute", "/tight")).isEqualTo(429);
    }
}
