package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import dev.ratelimit.startup.LoginCheck;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.security.authentication.AuthenticationManager;

/** Mistakes in {@code ratelimit.login} stop the start: otherwise passwords could be guessed without limit. */
class LoginMistakesTest {

    private final WebApplicationContextRunner application = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    RateLimitAutoConfiguration.class,
                    RateLimitPolicyAutoConfiguration.class,
                    RateLimitWebAutoConfiguration.class,
                    RateLimitLoginAutoConfiguration.class))
            .withPropertyValues(
                    "ratelimit.store.type=memory",
                    "ratelimit.limits.login.algorithm=sliding-log",
                    "ratelimit.limits.login.max-requests=5",
                    "ratelimit.limits.login.window=1m");

    private static void stops(WebApplicationContextRunner application, String... expected) {
        application.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription() + analysis.getAction()).contains(expected);
        });
    }

    @Test
    void limitThatDoesNotExist() {
        stops(
                application.withPropertyValues("ratelimit.login.limit=lgoin"),
                "ratelimit.login.limit",
                "lgoin",
                "Name one of login.");
        stops(
                application.withPropertyValues("ratelimit.login.limit=login", "ratelimit.login.address-limit=all"),
                "ratelimit.login.address-limit",
                "Name one of login.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"limit", "address-limit", "name-limit"})
    void emptyName(String property) {
        stops(
                application.withPropertyValues("ratelimit.login.limit=login", "ratelimit.login." + property + "="),
                "Property: ratelimit.login." + property + "\n    Value: ''",
                "Name a limit, or leave it out: ");
    }

    @Test
    void looserLimitWithoutTheLimit() {
        stops(
                application.withPropertyValues("ratelimit.login.name-limit=login"),
                "ratelimit.login.name-limit",
                "Set ratelimit.login.limit, too");
    }

    @Test
    void withoutSpringSecurity() {
        stops(
                application
                        .withPropertyValues("ratelimit.login.limit=login")
                        .withClassLoader(new FilteredClassLoader(AuthenticationManager.class)),
                "ratelimit.login.limit",
                "Add spring-boot-starter-security");
    }

    /** Such as a task of the same application, or a test of it without a web server. */
    @Test
    void withoutWebRequestsTheLimitIsNoMistake() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class,
                        RateLimitPolicyAutoConfiguration.class,
                        RateLimitWebAutoConfiguration.class,
                        RateLimitLoginAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.type=memory",
                        "ratelimit.limits.login.algorithm=sliding-log",
                        "ratelimit.limits.login.max-requests=5",
                        "ratelimit.limits.login.window=1m",
                        "ratelimit.login.limit=login")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void rightSettings() {
        application
                .withPropertyValues("ratelimit.login.limit=login", "ratelimit.login.name-limit=none")
                .run(context -> assertThat(context).hasNotFailed().hasBean(LoginCheck.LIMITS));
    }
}
