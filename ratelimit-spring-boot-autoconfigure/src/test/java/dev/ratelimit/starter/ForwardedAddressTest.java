package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.starter.RunningApplication.Container;
import java.util.List;
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
}
