package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.starter.FailingStoreTest.SickStore;
import dev.ratelimit.upkeep.Upkeep;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The health of an application whose store fails. */
class HealthTest {

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        SickStore store() {
            return new SickStore();
        }
    }

    private static RunningApplication start(String... settings) {
        String[] all = new String[settings.length + 3];
        System.arraycopy(settings, 0, all, 0, settings.length);
        all[settings.length] = "ratelimit.store.deadline=150ms";
        all[settings.length + 1] = "management.endpoint.health.show-details=always";
        all[settings.length + 2] = "management.endpoint.health.probes.enabled=true";
        return RunningApplication.start(List.of(Application.class), all);
    }

    @Test
    void theIndicatorShowsStoreCircuitQueueAndUpkeep() throws Exception {
        try (RunningApplication application = start()) {
            HttpResponse<String> health = application.get("/actuator/health/ratelimit");

            assertThat(health.statusCode()).isEqualTo(200);
            assertThat(health.body())
                    .contains("\"status\":\"UP\"")
                    .contains("\"store\":\"available\"")
                    .contains("\"place\":\"a store of the application\"")
                    .contains("\"circuit\":\"closed\"")
                    .contains("\"waiting\":\"0 of 10000\"")
                    .contains("\"lastUpkeep\":\"none since the start\"");
        }
    }

    @Test
    void afterARunTheIndicatorShowsWhenItWas(@TempDir Path folder) throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(WithFile.class),
                "ratelimit.store.type=sqlite",
                "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                "management.endpoint.health.show-details=always")) {
            Instant before = Instant.now();
            Upkeep upkeep = application.bean(Upkeep.class);
            upkeep.run();

            String at = JsonMapper.builder()
                    .build()
                    .readTree(application.get("/actuator/health/ratelimit").body())
                    .path("details")
                    .path("lastUpkeep")
                    .asString();
            assertThat(Instant.parse(at)).isBetween(before, Instant.now());
            assertThat(at).isEqualTo(upkeep.lastRun().at().toString());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class WithFile {}

    /** No request has come: the indicator asks the store itself. */
    @Test
    void aStoreThatFailsIsShownAndFailsNeitherReadinessNorTheApplication() throws Exception {
        try (RunningApplication application = start()) {
            SickStore store = application.bean(SickStore.class);
            store.failing = true;

            HttpResponse<String> health = application.get("/actuator/health/ratelimit");
            assertThat(health.statusCode()).isEqualTo(200);
            assertThat(health.body())
                    .contains("\"status\":\"DEGRADED\"")
                    .contains("\"store\":\"unavailable\"")
                    .contains("on fire");
            HttpResponse<String> all = application.get("/actuator/health");
            assertThat(all.statusCode()).isEqualTo(200);
            JsonNode aggregate = JsonMapper.builder().build().readTree(all.body());
            assertThat(aggregate.get("status").asString()).isEqualTo("UP");
            assertThat(application.get("/actuator/health/readiness").statusCode())
                    .isEqualTo(200);

            store.failing = false;
            await().atMost(Duration.ofSeconds(20))
                    .until(() ->
                            application.get("/actuator/health/ratelimit").body().contains("\"status\":\"UP\""));
        }
    }

    @Test
    void theApplicationDecidesWhetherItCounts() throws Exception {
        try (RunningApplication application = start(
                "management.endpoint.health.status.order=down,out-of-service,degraded,up,unknown",
                "management.endpoint.health.status.http-mapping.degraded=503")) {
            assertThat(application.get("/actuator/health").statusCode()).isEqualTo(200);
            application.bean(SickStore.class).failing = true;

            assertThat(application.get("/actuator/health").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void itCanBeSwitchedOff() throws Exception {
        try (RunningApplication application = start("management.health.ratelimit.enabled=false")) {
            assertThat(application.get("/actuator/health/ratelimit").statusCode())
                    .isEqualTo(404);
        }
    }
}
