package dev.ratelimit.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** The dashboard refuses to start where it would be open to everybody. */
@ExtendWith(OutputCaptureExtension.class)
class StartTest {

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitDashboardAutoConfiguration.class));

    @Test
    @DisplayName("Without Spring Security the application fails to start, and says what to do")
    void withoutSpringSecurity() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.security"))
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(UnprotectedDashboardException.class)
                        .hasMessage("The dashboard of rate limits at /ratelimit would be open to everybody:"
                                + " Spring Security is not on the class path"));
    }

    @Test
    @DisplayName("With Spring Security switched off the application fails to start, and says what to do")
    void switchedOff(CapturedOutput output) {
        assertThatThrownBy(() -> Shop.start(
                                Map.of(
                                        "shop.security",
                                        "false",
                                        "spring.autoconfigure.exclude",
                                        "org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration"))
                        .close())
                .hasRootCauseInstanceOf(UnprotectedDashboardException.class);

        assertThat(output)
                .contains("The dashboard of rate limits at /ratelimit would be open to everybody")
                .contains("Add spring-boot-starter-security")
                .contains("ratelimit.dashboard.unprotected: true");
    }

    @Test
    @DisplayName("An unprotected dashboard starts and warns; writes are still protected from other sites")
    void toldSo(CapturedOutput output) {
        try (ConfigurableApplicationContext open =
                Shop.start(Map.of("ratelimit.dashboard.unprotected", "true", "shop.open", "true"))) {
            Http.Answer session = Http.at(open).get("/ratelimit/data/session");
            assertThat(session.status()).isEqualTo(200);
            assertThat(session.json().get("maySteer").asBoolean()).isTrue();
            assertThat(output).contains("ratelimit.dashboard.unprotected is true");
        }
    }

    @Test
    @DisplayName("With nothing stored, limits are shown, and a change is refused with the remedy")
    void inMemory() {
        try (ConfigurableApplicationContext shop = Shop.start(Map.of(
                "ratelimit.store.type", "memory",
                "ratelimit.limits.api.algorithm", "fixed-window",
                "ratelimit.limits.api.max-requests", "5",
                "ratelimit.limits.api.window", "1m"))) {
            Http operator = Http.at(shop).as("operator");
            assertThat(operator.get("/ratelimit/data/limits").body()).contains("At most 5 requests per minute.");
            assertThat(operator.get("/ratelimit/data/now")
                            .json()
                            .path("missing")
                            .isEmpty())
                    .as("parts that are missing are explained")
                    .isFalse();
            Http.Answer refused = operator.write(
                    "/ratelimit/data/steer/set-limit",
                    Map.of("limit", "api", "properties", Map.of("max-requests", "7"), "reason", "the test"));
            assertThat(refused.status()).isEqualTo(409);
            assertThat(refused.body()).contains("ratelimit.policy.store");
        }
    }

    @Test
    @DisplayName("With rate limiting switched off, the application starts, and the page says so")
    void switchedOffLimits() {
        try (ConfigurableApplicationContext shop = Shop.start(Map.of("ratelimit.enabled", "false"))) {
            Http.Answer now = Http.at(shop).as("operator").get("/ratelimit/data/now");
            assertThat(now.json().path("health").path("text").asString()).isEqualTo("Limits are off");
        }
    }

    @Test
    @DisplayName("An invalid path is refused with its property")
    void invalidPath(CapturedOutput output) {
        assertThatThrownBy(() -> Shop.start(Map.of("ratelimit.dashboard.path", "limits/"))
                        .close())
                .isNotNull();

        assertThat(output)
                .contains("ratelimit.dashboard.path")
                .contains("limits/")
                .contains("as in /ratelimit");
    }

    @Test
    @DisplayName("The analysis names the path")
    void analysis() {
        FailureAnalysis analysis = new UnprotectedDashboardFailureAnalyzer()
                .analyze(new UnprotectedDashboardException("/ops", "Spring Security is not on the class path"));

        assertThat(analysis.getAction()).contains("/ops/**");
    }
}
