package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.testing.postgres.TestPostgres;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Limits, rules and everything can be switched off and on. */
@ExtendWith(OutputCaptureExtension.class)
class SwitchesTest {

    @TempDir
    private Path folder;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @RestController
    static class Endpoints {

        @GetMapping({"/a", "/b"})
        String answer() {
            return "x";
        }

        @GetMapping("/annotated")
        @RateLimited(limit = "one", key = "ip")
        String annotated() {
            return "x";
        }

        @GetMapping("/twice")
        @RateLimited(limit = "one", key = "ip")
        @RateLimited(limit = "many", key = "ip")
        String twice() {
            return "x";
        }

        @GetMapping("/blocked")
        String blocked() {
            return "x";
        }
    }

    private RunningApplication start(String store, String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.limits.one.algorithm=fixed-window",
                "ratelimit.limits.one.max-requests=1",
                "ratelimit.limits.one.window=3660d",
                "ratelimit.limits.many.base=one",
                "ratelimit.limits.many.max-requests=1000",
                "ratelimit.rules.many.path=/annotated",
                "ratelimit.rules.many.key=ip",
                "ratelimit.rules.many.limits=many",
                "ratelimit.rules.a.path=/a",
                "ratelimit.rules.a.key=ip",
                "ratelimit.rules.a.limits=one",
                "ratelimit.rules.blocked.path=/blocked",
                "ratelimit.rules.blocked.action=block"));
        all.addAll(Arrays.asList(settings));
        all.addAll(
                store.equals("sqlite")
                        ? List.of(
                                "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                                "ratelimit.changes.poll-interval=50ms")
                        : List.of(
                                "ratelimit.store.postgresql.url="
                                        + TestPostgres.instance().jdbcUrl(),
                                "ratelimit.store.postgresql.schema=" + schema()));
        return RunningApplication.start(List.of(Application.class, Endpoints.class), all.toArray(String[]::new));
    }

    private String schema;

    private String schema() {
        if (schema == null) {
            schema = TestPostgres.instance().freshSchema();
        }
        return schema;
    }

    private static int status(RunningApplication application, String path) throws Exception {
        return application.get(path).statusCode();
    }

    private static void becomes(int status, RunningApplication application, String path) {
        Awaitility.await().until(() -> status(application, path) == status);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void everythingIsSwitchedOnEveryInstance(String store, CapturedOutput log) throws Exception {
        try (RunningApplication one = start(store);
                RunningApplication other = start(store)) {
            RateLimitAdmin admin = one.bean(RateLimitAdmin.class);
            assertThat(status(one, "/a")).isEqualTo(200);
            assertThat(status(one, "/a")).isEqualTo(429);
            assertThat(status(other, "/blocked")).isEqualTo(403);

            admin.disable(Change.by("ops").because("incident 7"));
            assertThat(admin.isEnabled()).isFalse();
            assertThat(status(one, "/a")).isEqualTo(200);
            becomes(200, other, "/blocked");
            assertThat(status(other, "/a")).isEqualTo(200);
            assertThat(other.bean(RateLimiter.class)
                            .decide(Subject.user("alice"), "one")
                            .limits())
                    .isEmpty();
            assertThat(log).contains("Rate limiting is off: all limits and rules, switched by ops (incident 7)");

            admin.enable(Change.by("ops"));
            assertThat(status(one, "/a")).as("the count is as it was").isEqualTo(429);
            becomes(429, other, "/a");
            assertThat(admin.limits().history(LimitBook.ALL))
                    .extracting(version -> version.by() + " " + version.content() + " " + version.reason())
                    .containsExactly("ops {enabled=true} null", "ops {enabled=false} incident 7");
            assertThat(log).contains("Rate limiting is on again: all limits and rules, switched by ops");
        }
    }

    @Test
    void limitIsSwitchedOffAndOn() throws Exception {
        try (RunningApplication application = start("sqlite")) {
            RateLimitAdmin admin = application.bean(RateLimitAdmin.class);
            assertThat(status(application, "/a")).isEqualTo(200);
            assertThat(status(application, "/a")).isEqualTo(429);

            admin.limits().disable("one", Change.by("ops"));
            assertThat(status(application, "/a")).isEqualTo(200);
            assertThat(application.get("/a").headers().firstValue("X-RateLimit-Limit"))
                    .isEmpty();
            assertThat(status(application, "/blocked")).as("rules still apply").isEqualTo(403);

            admin.limits().enable("one", Change.by("ops"));
            assertThat(status(application, "/a")).isEqualTo(429);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/annotated", "/twice"})
    void limitThatIsSwitchedOffIsNeitherShownNorCounted(String path) throws Exception {
        try (RunningApplication application = start("sqlite")) {
            application.bean(RateLimitAdmin.class).limits().disable("one", Change.by("ops"));

            for (int i = 0; i < 3; i++) {
                HttpResponse<String> response = application.get(path);
                assertThat(response.statusCode()).isEqualTo(200);
                String header = response.headers().firstValue("RateLimit").orElseThrow();
                assertThat(header).startsWith("\"many\"");
                assertThat(Long.parseLong(header.substring(header.indexOf(";t=") + 3)))
                        .as(header)
                        .isBetween(0L, 3660L * 24 * 3600);
            }
            MeterRegistry meters = application.bean(MeterRegistry.class);
            Awaitility.await().until(() -> requests(meters, "many") == 3);
            assertThat(requests(meters, "one")).isZero();
        }
    }

    private static double requests(MeterRegistry meters, String limit) {
        return meters.find("ratelimit.requests").tag("limit", limit).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void ruleIsSwitchedOffAndOn() throws Exception {
        try (RunningApplication application = start("sqlite")) {
            RateLimitAdmin admin = application.bean(RateLimitAdmin.class);
            assertThat(status(application, "/blocked")).isEqualTo(403);
            admin.rules().disable("blocked", Change.by("ops"));
            assertThat(status(application, "/blocked")).isEqualTo(200);
            admin.rules().enable("blocked", Change.by("ops"));
            assertThat(status(application, "/blocked")).isEqualTo(403);
        }
    }

    @Test
    void configurationSwitchesLimitsAndRulesOff() throws Exception {
        try (RunningApplication application = start("sqlite", "ratelimit.limits.one.enabled=false")) {
            assertThat(status(application, "/a")).isEqualTo(200);
            assertThat(status(application, "/a")).isEqualTo(200);
            application.bean(RateLimitAdmin.class).limits().enable("one", Change.by("ops"));
            assertThat(status(application, "/a")).isEqualTo(200);
            assertThat(status(application, "/a")).isEqualTo(429);
        }
        try (RunningApplication application = start("sqlite", "ratelimit.rules.blocked.enabled=false")) {
            assertThat(status(application, "/blocked")).isEqualTo(200);
        }
        try (RunningApplication application = start("sqlite", "ratelimit.enabled=false")) {
            assertThat(status(application, "/a")).isEqualTo(200);
            assertThat(status(application, "/a")).isEqualTo(200);
            assertThat(status(application, "/blocked")).isEqualTo(200);
        }
    }
}
