package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** A path that Spring cannot decode gets 400. Limits for every path count it, and listeners hear of it. */
class UnreadablePathTest {

    private static final String UNREADABLE = "/health;x=%zz";

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        GateAgreementTest.Records records() {
            return new GateAgreementTest.Records();
        }

        @RestController
        static class Pages {

            private final AtomicInteger calls = new AtomicInteger();

            @RequestMapping("/**")
            String page() {
                return "ok " + calls.incrementAndGet();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Backslashes {

        @Bean
        WebServerFactoryCustomizer<TomcatServletWebServerFactory> backslashes() {
            return server -> server.addConnectorCustomizers(connector -> connector.setAllowBackslash(true));
        }
    }

    /** Tomcat maps it to the application, and then fails to find the context path in it. */
    @Test
    void pathWhoseContextTheContainerCannotFindIsCountedRecordedAndRefused() throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class, Backslashes.class),
                "server.servlet.context-path=/shop",
                "server.tomcat.relaxed-path-chars=\\",
                "ratelimit.store.type=memory",
                "ratelimit.limits.one.algorithm=fixed-window",
                "ratelimit.limits.one.max-requests=1",
                "ratelimit.limits.one.window=3660d",
                "ratelimit.rules.everything.key=ip",
                "ratelimit.rules.everything.limits=one")) {
            GateAgreementTest.Records records = application.bean(GateAgreementTest.Records.class);

            assertThat(application.rawStatus("GET /shop\\cart HTTP/1.1")).isEqualTo(400);
            assertThat(records.next().outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(application.rawStatus("GET /shop\\cart HTTP/1.1")).isEqualTo(429);
            assertThat(records.next().outcome()).isEqualTo(Outcome.THROTTLED);
        }
    }

    @Test
    void isCountedRecordedAndRefused() throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class),
                "ratelimit.store.type=memory",
                "ratelimit.exempt.paths=/health/**",
                "ratelimit.limits.two.algorithm=fixed-window",
                "ratelimit.limits.two.max-requests=2",
                "ratelimit.limits.two.window=3660d",
                "ratelimit.rules.health.path=/health/**",
                "ratelimit.rules.health.priority=9",
                "ratelimit.rules.health.action=allow",
                "ratelimit.rules.everything.key=ip",
                "ratelimit.rules.everything.limits=two")) {
            GateAgreementTest.Records records = application.bean(GateAgreementTest.Records.class);
            for (int i = 0; i < 2; i++) {
                assertThat(application.rawStatus("GET " + UNREADABLE + " HTTP/1.1"))
                        .isEqualTo(400);
                RequestRecord record = records.next();
                assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
                assertThat(record.rule()).isEqualTo("everything");
                assertThat(record.exchange().path()).as("without parameters").isEqualTo("/health");
                assertThat(record.exchange().status()).isEqualTo(400);
            }

            assertThat(application.rawStatus("GET " + UNREADABLE + " HTTP/1.1")).isEqualTo(429);
            assertThat(records.next().outcome()).isEqualTo(Outcome.THROTTLED);
            assertThat(application.get("/health").body())
                    .as("no handler was called before")
                    .isEqualTo("ok 1");
        }
    }
}
