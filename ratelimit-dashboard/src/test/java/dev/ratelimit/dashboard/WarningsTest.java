package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.monitor.Monitor;
import dev.ratelimit.monitor.Thresholds;
import dev.ratelimit.monitor.Warning;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;

/** The top of Now in a browser, in an application on PostgreSQL where something is wrong. */
class WarningsTest {

    private static final Map<String, String> FEW_ORDERS = Map.of(
            "ratelimit.store.type", "postgresql",
            "ratelimit.store.postgresql.url", TestPostgres.instance().jdbcUrl(),
            "ratelimit.store.postgresql.username", "",
            "ratelimit.store.postgresql.password", "",
            "ratelimit.limits.orders.algorithm", "fixed-window",
            "ratelimit.limits.orders.max-requests", "1",
            "ratelimit.limits.orders.window", "3660d",
            "ratelimit.rules.orders.path", "/api/orders/*",
            "ratelimit.rules.orders.key", "user",
            "ratelimit.rules.orders.limits", "orders");

    /** A monitor that has seen everything go wrong. */
    @Configuration(proxyBeanMethods = false)
    static class EverythingIsWrong {

        @Bean
        Warnings warnings() {
            AtomicLong dropped = new AtomicLong();
            AtomicLong penalties = new AtomicLong();
            AtomicLong nanos = new AtomicLong();
            Monitor monitor = Monitor.builder()
                    .auditDropped(dropped::get)
                    .auditFailure(() -> "down")
                    .sumsFailure(() -> "too slow")
                    .retentionFailures(() -> List.of("Could not drop audit rows of 2025-12: the disk is full"))
                    .penalties(() -> Map.of("orders", penalties.get()), Duration.ofSeconds(1))
                    .nanoTime(nanos::get)
                    .build();
            monitor.tick();
            dropped.set(1);
            penalties.set(100);
            nanos.set(Duration.ofMinutes(1).toNanos());
            monitor.tick();
            Limit limit = Limit.named("orders")
                    .algorithm(Algorithms.atMost(1, Window.of(Duration.ofDays(1))))
                    .build();
            StoreRateLimiter limiter = StoreRateLimiter.builder(new MemoryLimitStore(), Limits.of(limit))
                    .listeners(List.of(monitor))
                    .build();
            for (int i = 0; i < 1_000; i++) {
                limiter.decide(LimitRequest.of(Subject.user("user" + i % 300), "orders")
                        .rule("orders"));
            }
            EngineStatus.Cache none = new EngineStatus.Cache(0, 0, 0);
            EngineStatus status = new EngineStatus(
                    new EngineStatus.Store(false, EngineStatus.Circuit.OPEN, "down", Duration.ofSeconds(9), 1, 1),
                    new EngineStatus.Queue(90, 100, 1, 1),
                    new EngineStatus.Calls(0, 0, Duration.ZERO),
                    none,
                    none);
            return new Warnings(monitor, () -> status, Thresholds.DEFAULT);
        }
    }

    @Test
    @DisplayName("Each of the conditions that alerts are for is in the data of Now, the most urgent first")
    void everyCondition() {
        try (ConfigurableApplicationContext shop = Shop.start(Map.of(), EverythingIsWrong.class)) {
            JsonNode warnings = Http.at(shop)
                    .as("viewer")
                    .get("/ratelimit/data/now")
                    .json()
                    .path("status")
                    .path("warnings");

            assertThat(warnings.valueStream()
                            .map(warning -> warning.path("kind").asString()))
                    .containsExactly(Arrays.stream(Warning.Kind.values())
                            .map(kind -> kind.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                            .toArray(String[]::new));
            assertThat(warnings.valueStream()
                            .map(warning -> warning.path("sentence").asString()))
                    .doesNotContain("");

            try (Browser browser = Browser.start()) {
                browser.as("viewer").go(Http.base(shop) + "/ratelimit/");
                browser.awaitText("The store has been unavailable");
                assertThat(browser.all(".warnings > li")).hasSize(warnings.size());
                assertThat(browser.all(".warnings .remedy"))
                        .hasSize(warnings.size())
                        .allSatisfy(remedy -> assertThat(remedy.getText()).isNotBlank());
                assertThat(browser.nameless()).isEmpty();
                browser.look("light", 360);
                assertThat(browser.overflow()).isLessThanOrEqualTo(0);
                browser.picture("warnings-phone");
            }
        }
    }

    @Test
    @DisplayName("A condition that an alert is for is at the top of Now, above the numbers, and leads to its limit")
    void warning() {
        Map<String, String> settings = new LinkedHashMap<>(FEW_ORDERS);
        settings.put(
                "ratelimit.store.postgresql.schema", TestPostgres.instance().freshSchema());
        settings.put("ratelimit.monitoring.warnings.offenders", "2");
        try (Browser browser = Browser.start();
                ConfigurableApplicationContext shop = Shop.start(settings)) {
            browser.as("operator").go(Http.base(shop) + "/ratelimit/");
            browser.awaitText("Nothing is wrong.");

            for (String user : List.of("mia", "noa", "mia", "noa")) {
                Http.at(shop).as(user).get("/api/orders/1");
            }

            browser.awaitText("Limit orders denied about 2 different subjects");
            assertThat(browser.text()).contains("1 warning").doesNotContain("Nothing is wrong.");
            assertThat(browser.run("return document.querySelector('.warnings').getBoundingClientRect().bottom"
                            + " <= document.querySelector('.tiles').getBoundingClientRect().top"))
                    .isEqualTo(true);
            for (String scheme : List.of("light", "dark")) {
                browser.look(scheme, 1280);
                assertThat(browser.faintTexts()).as(scheme).isEmpty();
                browser.picture("warning-" + scheme);
            }
            assertThat(browser.text()).containsPattern("Connections\\s+\\d+ active and \\d+ idle of \\d+, 0 waiting");

            browser.find(".warnings a").click();
            browser.awaitText("History");
            assertThat(browser.url()).endsWith("#/limits/orders");
            assertThat(browser.complaints()).isEmpty();
        }
    }
}
