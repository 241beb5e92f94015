package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The answer to a client with a penalty for repeated violations. */
class PenaltyAnswerTest {

    private static final Duration BLOCK = Duration.ofHours(2);

    private RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        LimitStore store() {
            return new MemoryLimitStore();
        }
    }

    @BeforeEach
    void start() {
        application = RunningApplication.start(
                List.of(Application.class, WebRequestsTest.Endpoints.class),
                "ratelimit.limits.strict.algorithm=fixed-window",
                "ratelimit.limits.strict.max-requests=1",
                "ratelimit.limits.strict.window=3660d",
                "ratelimit.limits.strict.penalties[0].after=2",
                "ratelimit.limits.strict.penalties[0].block=2h",
                "ratelimit.rules.all.path=/api/plain",
                "ratelimit.rules.all.limits=strict");
    }

    @AfterEach
    void stop() {
        application.close();
    }

    @Test
    void penaltyIsNamedWithItsEnd() throws Exception {
        assertThat(application.get("/api/plain").statusCode()).isEqualTo(200);
        JsonNode violation = denied();
        assertThat(violation.get("type").asString()).endsWith("#quota-exceeded");
        assertThat(violation.get("penalty_active").asBoolean()).isFalse();
        assertThat(violation.get("penalty_until").isNull()).isTrue();

        Instant before = Instant.now();
        JsonNode penalty = denied();
        Instant after = Instant.now();

        assertThat(penalty.get("type").asString())
                .isEqualTo("https://iana.org/assignments/http-problem-types#abnormal-usage-detected");
        assertThat(penalty.get("penalty_active").asBoolean()).isTrue();
        assertThat(penalty.get("penalty_until").asLong())
                .isBetween(
                        before.plus(BLOCK).getEpochSecond(), after.plus(BLOCK).getEpochSecond() + 1);
        assertThat(penalty.get("violated-policies").get(0).asString()).isEqualTo("strict");
    }

    @Test
    void requestsDuringAPenaltyDoNotExtendIt() throws Exception {
        application.get("/api/plain");
        denied();
        long until = denied().get("penalty_until").asLong();

        for (int i = 0; i < 3; i++) {
            JsonNode again = denied();
            assertThat(again.get("type").asString()).endsWith("#abnormal-usage-detected");
            assertThat(again.get("penalty_until").asLong()).isEqualTo(until);
        }
    }

    private JsonNode denied() throws Exception {
        HttpResponse<String> response = application.get("/api/plain");
        assertThat(response.statusCode()).isEqualTo(429);
        return JsonMapper.builder().build().readTree(response.body());
    }
}
