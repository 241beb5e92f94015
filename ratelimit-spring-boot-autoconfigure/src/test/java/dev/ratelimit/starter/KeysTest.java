package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.web.servlet.RateLimitRejectionHandler;
import dev.ratelimit.web.servlet.SubjectResolver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.Principal;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The owner of the count of a request, exemptions, and beans that applications replace. */
class KeysTest {

    private static final int MANY = 1_000;

    private static RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        LimitStore store() {
            return new MemoryLimitStore();
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        SubjectResolver tenants() {
            return request -> Subject.of("tenant", request.getServerName());
        }

        /** Finds the user as applications do: in the request. */
        @Bean
        SubjectResolver members() {
            return request -> {
                Principal user = request.getUserPrincipal();
                return user == null ? null : Subject.of("member", user.getName());
            };
        }

        @Bean
        RateLimitRejectionHandler teapot() {
            return (request, response, decision) -> response.sendError(418);
        }

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(User.withUsername("alice")
                    .password("{noop}alice")
                    .roles("USER")
                    .build());
        }
    }

    @RestController
    static class Endpoints {

        @GetMapping("/{by}/x")
        String counted(@PathVariable String by) {
            return by;
        }

        @GetMapping("/health/deep/x")
        String exempt() {
            return "up";
        }

        @GetMapping("/guess/{word}")
        @RateLimited(limit = "two", countWhen = "#status == 401")
        Callable<ResponseEntity<String>> guess(@PathVariable String word) {
            return () -> ResponseEntity.status(word.equals("right") ? HttpStatus.OK : HttpStatus.UNAUTHORIZED)
                    .body(word);
        }
    }

    @BeforeAll
    static void start() {
        application = RunningApplication.start(
                List.of(Application.class, Endpoints.class),
                "ratelimit.headers.legacy=false",
                "ratelimit.exempt.paths=/health/**",
                "ratelimit.exempt.addresses=192.0.2.0/24",
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.limits.many.algorithm=fixed-window",
                "ratelimit.limits.many.max-requests=" + MANY,
                "ratelimit.limits.many.window=3660d",
                "ratelimit.limits.two.algorithm=fixed-window",
                "ratelimit.limits.two.max-requests=2",
                "ratelimit.limits.two.window=3660d",
                "ratelimit.limits.queue.algorithm=leaky-bucket",
                "ratelimit.limits.queue.drain=10/s",
                "ratelimit.limits.queue.max-wait=5s",
                rule("user", "user"),
                rule("ip", "ip"),
                rule("both", "user+ip"),
                rule("header", "header:X-Tenant"),
                rule("key", "api-key"),
                rule("session", "session"),
                rule("expression", "#request.getHeader('X-Tenant') + '@' + #client"),
                rule("bean", "bean:tenants"),
                rule("member", "bean:members"),
                rule("principal", "#principal?.name"),
                rule("condition", "ip"),
                limit("user"),
                limit("ip"),
                limit("both"),
                limit("header"),
                limit("key"),
                limit("session"),
                limit("expression"),
                limit("bean"),
                limit("member"),
                limit("principal"),
                limit("condition"),
                "ratelimit.rules.user.path=/user/**",
                "ratelimit.rules.ip.path=/ip/**",
                "ratelimit.rules.both.path=/both/**",
                "ratelimit.rules.header.path=/header/**",
                "ratelimit.rules.key.path=/key/**",
                "ratelimit.rules.session.path=/session/**",
                "ratelimit.rules.expression.path=/expression/**",
                "ratelimit.rules.bean.path=/bean/**",
                "ratelimit.rules.member.path=/member/**",
                "ratelimit.rules.principal.path=/principal/**",
                "ratelimit.rules.condition.path=/condition/**",
                "ratelimit.rules.condition.condition=#principal?.name == 'alice' and #request.isUserInRole('USER')",
                "ratelimit.rules.health.path=/health/**",
                "ratelimit.rules.health.limits=two",
                "ratelimit.rules.queue.path=/queue/**",
                "ratelimit.rules.queue.limits=queue",
                "ratelimit.rules.two.path=/two/**",
                "ratelimit.rules.two.limits=two");
    }

    private static String rule(String name, String key) {
        return "ratelimit.rules." + name + ".key=" + key;
    }

    private static String limit(String rule) {
        return "ratelimit.rules." + rule + ".limits=many";
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @ParameterizedTest
    @CsvSource({
        "/user/x, user, alice, false",
        "/ip/x, ip, 198.51.100.7, true",
        "/header/x, header, X-Tenant=acme, true",
        "/expression/x, key, acme@198.51.100.7, true",
        "/bean/x, tenant, 127.0.0.1, true",
        "/member/x, member, alice, false",
        "/principal/x, key, alice, false",
        "/condition/x, ip, 127.0.0.1, false",
    })
    void requestIsCountedForItsSubject(String path, String type, String value, boolean anonymous) throws Exception {
        long before = remaining(Subject.of(type, value));

        HttpResponse<String> response = anonymous
                ? application.get(path, "X-Tenant", "acme", "X-Forwarded-For", "198.51.100.7")
                : application.getAs("alice", path);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(remaining(Subject.of(type, value))).isEqualTo(before - 1);
    }

    @Test
    void userAndAddressTogetherAreASubjectOfTheirOwn() throws Exception {
        application.getAs("alice", "/both/x");

        assertThat(remaining(Subject.user("alice").and("ip", "127.0.0.1"))).isEqualTo(MANY - 1);
    }

    @ParameterizedTest
    @CsvSource({"/user/x", "/header/x", "/key/x", "/session/x"})
    void whatARequestDoesNotHaveIsReplacedByItsAddress(String path) throws Exception {
        Subject address = Subject.ip("198.51.100.9");
        long before = remaining(address);

        application.get(path, "X-Forwarded-For", "198.51.100.9");

        assertThat(remaining(address)).isEqualTo(before - 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-User-Id", "X-User", "X-Forwarded-User", "Remote-User"})
    void userThatAClientNamesInAHeaderIsNotBelieved(String header) throws Exception {
        Subject address = Subject.ip("198.51.100.10");
        long before = remaining(address);

        application.get("/user/x", "X-Forwarded-For", "198.51.100.10", header, "alice");
        application.get("/user/x", "X-Forwarded-For", "198.51.100.10", header, "bob");

        assertThat(remaining(address)).isEqualTo(before - 2);
    }

    @Test
    void secretsAreCountedByTheirDigest() throws Exception {
        application.get("/key/x", "X-API-Key", "s3cret");

        String digest = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(MessageDigest.getInstance("SHA-256").digest("s3cret".getBytes(StandardCharsets.UTF_8)));
        assertThat(remaining(Subject.of("api-key", digest))).isEqualTo(MANY - 1);
        assertThat(remaining(Subject.of("api-key", "s3cret"))).isEqualTo(MANY);
    }

    @Test
    void exemptPathsAndAddressesAreNotCounted() throws Exception {
        for (int i = 0; i < 4; i++) {
            assertThat(application.get("/health/deep/x").statusCode()).isEqualTo(200);
            assertThat(application
                            .get("/two/x", "X-Forwarded-For", "192.0.2.77")
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void answerAndHeadersAreThoseOfTheApplication() throws Exception {
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> response = application.get("/two/x", "X-Forwarded-For", "198.51.100.1");
            assertThat(response.headers().firstValue("X-RateLimit-Limit")).isEmpty();
            assertThat(response.headers().firstValue("RateLimit")).isPresent();
        }
        assertThat(application.get("/two/x", "X-Forwarded-For", "198.51.100.1").statusCode())
                .isEqualTo(418);
    }

    @Test
    void asynchronousCallIsSettledWhenItsStatusIsKnown() throws Exception {
        String client = "198.51.100.2";
        for (int i = 0; i < 4; i++) {
            assertThat(application
                            .get("/guess/right", "X-Forwarded-For", client)
                            .statusCode())
                    .isEqualTo(200);
            Awaitility.await().until(() -> remainingOfTwo(client) == 2);
        }
        application.get("/guess/wrong", "X-Forwarded-For", client);
        application.get("/guess/wrong", "X-Forwarded-For", client);
        assertThat(application.get("/guess/right", "X-Forwarded-For", client).statusCode())
                .isEqualTo(418);
    }

    private static long remainingOfTwo(String client) {
        return application
                .bean(RateLimiter.class)
                .peek(Subject.ip(client), "two")
                .remaining();
    }

    @Test
    void requestWaitsForItsTurnInAQueue() throws Exception {
        long start = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            assertThat(application
                            .get("/queue/x", "X-Forwarded-For", "198.51.100.3")
                            .statusCode())
                    .isEqualTo(200);
        }

        // Five at ten a second: the fifth has its turn no sooner than 400 ms after the first.
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(400_000_000L);
    }

    @Test
    void metersCountByLimitRuleAndOutcomeAndNeverBySubject() throws Exception {
        for (int i = 0; i < 3; i++) {
            application.get("/two/x", "X-Forwarded-For", "198.51.100.4");
        }

        MeterRegistry meters = application.bean(MeterRegistry.class);
        assertThat(meters.counter("ratelimit.requests", "limit", "two", "rule", "two", "outcome", "allowed")
                        .count())
                .isGreaterThanOrEqualTo(2);
        assertThat(meters.counter("ratelimit.violations", "limit", "two").count())
                .isGreaterThanOrEqualTo(1);
        assertThat(meters.timer("ratelimit.decision").count()).isGreaterThanOrEqualTo(3);
        assertThat(meters.getMeters())
                .allSatisfy(meter -> assertThat(meter.getId().toString()).doesNotContain("198.51.100", "alice"));
    }

    private static long remaining(Subject subject) {
        return application.bean(RateLimiter.class).peek(subject, "many").remaining();
    }
}
