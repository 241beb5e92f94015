package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.starter.RunningApplication.Container;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.web.server.servlet.ServletWebServerFactory;

/** The client's address is found in the same way whatever the container and the framework make of the headers. */
class ForwardedAddressTest {

    @ParameterizedTest
    @CsvSource({
        "TOMCAT, none",
        "TOMCAT, native",
        "TOMCAT, framework",
        "JETTY, none",
        "JETTY, native",
        "JETTY, framework"
    })
    void clientIsTheSameWithEveryContainerAndStrategy(Container container, String strategy) throws Exception {
        String server = container == Container.TOMCAT ? "Tomcat" : "Jetty";
        try (RunningApplication application = RunningApplication.start(
                container,
                List.of(WebRequestsTest.Application.class, WebRequestsTest.Endpoints.class),
                "server.forward-headers-strategy=" + strategy,
                "ratelimit.identity.trusted-proxies=127.0.0.0/8",
                "ratelimit.limits.address.algorithm=fixed-window",
                "ratelimit.limits.address.max-requests=5",
                "ratelimit.limits.address.window=3660d",
                "ratelimit.rules.all.path=/**",
                "ratelimit.rules.all.key=ip",
                "ratelimit.rules.all.limits=address")) {
            assertThat(application
                            .bean(ServletWebServerFactory.class)
                            .getClass()
                            .getSimpleName())
                    .startsWith(server);
            application.get("/api/plain", "X-Forwarded-For", "1.1.1.1, 198.51.100.7");
            application.get("/api/plain", "X-Forwarded-For", "2.2.2.2, 198.51.100.7, 127.0.0.5");
            application.get("/api/plain", "Forwarded", "for=3.3.3.3, for=\"198.51.100.7:99\"");

            RateLimiter limiter = application.bean(RateLimiter.class);
            assertThat(limiter.peek(Subject.ip("198.51.100.7"), "address").remaining())
                    .isEqualTo(2);
            for (String invented : List.of("1.1.1.1", "2.2.2.2", "3.3.3.3", "127.0.0.1")) {
                assertThat(limiter.peek(Subject.ip(invented), "address").remaining())
                        .as(invented)
                        .isEqualTo(5);
            }
        }
    }

    /** In Kubernetes, the strategy is {@code native} by default. */
    @ParameterizedTest
    @CsvSource({
        "TOMCAT, server.forward-headers-strategy=none",
        "TOMCAT, server.forward-headers-strategy=native",
        "TOMCAT, server.forward-headers-strategy=framework",
        "TOMCAT, spring.main.cloud-platform=kubernetes",
        "JETTY, server.forward-headers-strategy=native",
        "JETTY, spring.main.cloud-platform=kubernetes"
    })
    void addressesThatClientsInventGainNothing(Container container, String setting) throws Exception {
        try (RunningApplication application = RunningApplication.start(
                container,
                List.of(LoginLimitsTest.OneChain.class, LoginLimitsTest.Endpoints.class),
                setting,
                "ratelimit.store.type=memory",
                "ratelimit.limits.login.algorithm=fixed-window",
                "ratelimit.limits.login.max-requests=2",
                "ratelimit.limits.login.window=3660d",
                "ratelimit.limits.address.algorithm=fixed-window",
                "ratelimit.limits.address.max-requests=5",
                "ratelimit.limits.address.window=3660d",
                "ratelimit.login.limit=login",
                "ratelimit.exempt.addresses=203.0.113.7",
                "ratelimit.rules.all.path=/api/**",
                "ratelimit.rules.all.key=ip",
                "ratelimit.rules.all.limits=address")) {
            for (int i = 1; i <= 6; i++) {
                assertThat(application
                                .get("/api/closed", "X-Forwarded-For", "198.51.100." + i)
                                .statusCode())
                        .as("request %d", i)
                        .isEqualTo(i <= 5 ? 401 : 429);
            }
            assertThat(application
                            .get("/api/closed", "X-Forwarded-For", "203.0.113.7")
                            .statusCode())
                    .as("with an exempt address")
                    .isEqualTo(429);

            for (int i = 1; i <= 3; i++) {
                assertThat(new LoginClient(application, "198.51.100." + i).status("alice", "wrong"))
                        .as("guess %d", i)
                        .isEqualTo(i <= 2 ? 401 : 429);
            }
        }
    }

    private static RunningApplication startWith(String... more) {
        List<String> settings = new ArrayList<>(List.of(
                "ratelimit.identity.trusted-proxies=127.0.0.0/8",
                "ratelimit.store.type=memory",
                "ratelimit.limits.address.algorithm=fixed-window",
                "ratelimit.limits.address.max-requests=5",
                "ratelimit.limits.address.window=3660d",
                "ratelimit.rules.all.path=/**",
                "ratelimit.rules.all.key=ip",
                "ratelimit.rules.all.limits=address"));
        settings.addAll(List.of(more));
        return RunningApplication.start(
                List.of(WebRequestsTest.Application.class, WebRequestsTest.Endpoints.class),
                settings.toArray(String[]::new));
    }

    private static long remaining(RunningApplication application, String address) {
        return application
                .bean(RateLimiter.class)
                .peek(Subject.ip(address), "address")
                .remaining();
    }

    private static int sendBoth(RunningApplication application, String forwardedFor, String forwarded)
            throws Exception {
        return application
                .get("/api/plain", "X-Forwarded-For", forwardedFor, "Forwarded", "for=" + forwarded)
                .statusCode();
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.identity.forwarded-header=x-forwarded-for, 198.51.100.1",
        "ratelimit.identity.forwarded-header=forwarded, 198.51.100.2",
        "ratelimit.identity.forwarded-header=auto, 127.0.0.1",
        "ratelimit.identity.ipv6-prefix=64, 127.0.0.1"
    })
    void headerThatDisagreesWithTheOtherCountsIfItIsTheChosenOne(String setting, String counted) throws Exception {
        try (RunningApplication application = startWith(setting)) {
            sendBoth(application, "198.51.100.1", "198.51.100.2");
            sendBoth(application, "198.51.100.1", "198.51.100.2");

            for (String address : List.of("198.51.100.1", "198.51.100.2", "127.0.0.1")) {
                assertThat(remaining(application, address)).as(address).isEqualTo(address.equals(counted) ? 3 : 5);
            }
        }
    }

    @Test
    void headerThatIsNotTheChosenOneIsNotReadAlone() throws Exception {
        try (RunningApplication application = startWith("ratelimit.identity.forwarded-header=forwarded")) {
            application.get("/api/plain", "X-Forwarded-For", "198.51.100.1");

            assertThat(remaining(application, "198.51.100.1")).isEqualTo(5);
            assertThat(remaining(application, "127.0.0.1")).isEqualTo(4);
        }
    }

    /** The proxy writes X-Forwarded-For; the client invents another Forwarded with each request. */
    @Test
    void inventedHeadersShareOneCountUntilTheProxysOwnIsKnown() throws Exception {
        try (RunningApplication application = startWith()) {
            int passed = 0;
            for (int i = 1; i <= 8; i++) {
                passed += sendBoth(application, "198.51.100." + i % 2, "203.0.113." + i) == 200 ? 1 : 0;
            }
            assertThat(passed).as("of two clients together").isEqualTo(5);

            // One request with a single header shows which one the proxy writes; then it counts by that.
            application.get("/api/plain", "X-Forwarded-For", "198.51.100.9");
            for (int i = 1; i <= 8; i++) {
                passed += sendBoth(application, "198.51.100.1", "203.0.113." + i) == 200 ? 1 : 0;
            }
            assertThat(passed).isEqualTo(10);
            assertThat(remaining(application, "198.51.100.1")).isZero();
        }
    }
}
