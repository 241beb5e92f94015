package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.TestPropertySource;

/** A test of an application that configures no file: it must pass in the second run as it did in the first. */
@ExtendWith(OutputCaptureExtension.class)
class SecondRunTest {

    @SpringBootTest(
            webEnvironment = SpringBootTest.WebEnvironment.MOCK,
            classes = Application.class,
            properties = {
                "ratelimit.limits.daily.algorithm=fixed-window",
                "ratelimit.limits.daily.max-requests=1",
                "ratelimit.limits.daily.window=day"
            })
    @DirtiesContext(classMode = DirtiesContext.ClassMode.BEFORE_EACH_TEST_METHOD)
    abstract static class Runs {

        @Autowired
        RateLimiter limiter;

        @Autowired
        RateLimitAdmin admin;

        @Test
        void firstRun(CapturedOutput output) {
            usesUpTheDay();
            assertThat(output).contains("Using a temporary SQLite file for rate limits in this test");
        }

        @Test
        void secondRun() {
            usesUpTheDay();
            assertThat(Files.exists(Path.of("ratelimit.db")))
                    .as("a file in the working directory")
                    .isFalse();
        }

        private void usesUpTheDay() {
            assertThat(limiter.decide(Subject.user("alice"), "daily").allowed()).isTrue();
            assertThat(limiter.decide(Subject.user("alice"), "daily").allowed()).isFalse();
            assertThat(admin.limits().history("daily")).isEmpty();
            admin.limits().set("daily", Map.of("max-requests", "2"), Change.by("test"));
            assertThat(admin.limits().history("daily")).hasSize(1);
        }
    }

    @Nested
    class WithoutAStore extends Runs {}

    @Nested
    @TestPropertySource(properties = "ratelimit.store.type=sqlite")
    class OnSqlite extends Runs {}

    @Nested
    @TestPropertySource(properties = {"ratelimit.store.type=memory", "ratelimit.policy.store=sqlite"})
    class WithPoliciesOnSqlite extends Runs {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class Application {}
}
