package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.annotation.RateLimited;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** When a rejected client may come again: the reset, the least retry-after, and a block without an end. */
class RejectionAnswerTest {

    private static RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @RestController
        static class Endpoints {

            @GetMapping("/{limit}")
            String get(@PathVariable String limit) {
                return limit;
            }
        }

        @RestController
        static class Writer {

            private final Words words;

            Writer(Words words) {
                this.words = words;
            }

            @GetMapping("/own/writer")
            void write(HttpServletResponse response) throws IOException {
                response.addHeader("X-Own", "1");
                response.addHeader("X-Own", "2");
                response.getWriter().print(words.next());
            }
        }

        @Component
        static class Words {

            @RateLimited("once")
            public String next() {
                return "Hello!";
            }
        }
    }

    @BeforeAll
    static void start() {
        application = RunningApplication.start(
                List.of(Application.class),
                "ratelimit.store.type=memory",
                "ratelimit.limits.plain.algorithm=fixed-window",
                "ratelimit.limits.plain.max-requests=1",
                "ratelimit.limits.plain.window=3660d",
                "ratelimit.limits.once.base=plain",
                "ratelimit.limits.patient.algorithm=token-bucket",
                "ratelimit.limits.patient.burst=1",
                "ratelimit.limits.patient.refill=1/m",
                "ratelimit.limits.patient.retry-after=2h",
                "ratelimit.limits.final.base=plain",
                "ratelimit.limits.final.penalties[0].after=1",
                "ratelimit.limits.final.penalties[0].block=forever",
                "ratelimit.rules.plain.path=/plain",
                "ratelimit.rules.plain.limits=plain",
                "ratelimit.rules.patient.path=/patient",
                "ratelimit.rules.patient.limits=patient",
                "ratelimit.rules.final.path=/final",
                "ratelimit.rules.final.limits=final");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void documentSaysWhenTheLimitIsWholeAgain() throws Exception {
        HttpResponse<String> response = denied("/plain");

        long reset = Long.parseLong(
                response.headers().firstValue("X-RateLimit-Reset").orElseThrow());
        assertThat(json(response).get("reset_at").asString())
                .isEqualTo(Instant.ofEpochSecond(reset).toString())
                .endsWith("Z");
    }

    @Test
    void clientIsToldToWaitForTheLeastRetryAfterOfTheLimit() throws Exception {
        HttpResponse<String> response = denied("/patient");

        assertThat(response.headers().firstValue("Retry-After")).hasValue("7200");
        assertThat(json(response).get("retry_after").asLong()).isEqualTo(7200);
    }

    @Test
    void blockWithoutAnEndAsksNobodyToComeAgain() throws Exception {
        HttpResponse<String> response = denied("/final");

        assertThat(response.headers().firstValue("Retry-After")).isEmpty();
        JsonNode document = json(response);
        assertThat(document.get("penalty_active").asBoolean()).isTrue();
        assertThat(document.get("penalty_until").isNull()).isTrue();
        assertThat(document.get("reset_at").isNull()).isTrue();
        assertThat(document.get("detail").asString()).isEqualTo("You repeatedly exceeded the limit and are blocked.");
    }

    /** The method is called when the response has its writer already. */
    @Test
    void methodIsDeniedWhileItsResultIsBeingWritten() throws Exception {
        HttpResponse<String> response = denied("/own/writer");

        assertThat(json(response).get("violated-policies").get(0).asString()).isEqualTo("once");
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(response.headers().allValues("X-Own")).containsExactly("1", "2");
    }

    private static HttpResponse<String> denied(String path) throws Exception {
        assertThat(application.get(path).statusCode()).isEqualTo(200);
        HttpResponse<String> response = application.get(path);
        assertThat(response.statusCode()).isEqualTo(429);
        return response;
    }

    private static JsonNode json(HttpResponse<String> response) {
        return JsonMapper.builder().build().readTree(response.body());
    }
}
