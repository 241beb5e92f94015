package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import java.nio.file.Files;
import java.nio.file.Path;
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

/** A test of an application that configures no store: it must pass in the second run as it did in the first. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.MOCK,
        classes = SecondRunTest.Application.class,
        properties = {
            "ratelimit.limits.daily.algorithm=fixed-window",
            "ratelimit.limits.daily.max-requests=1",
            "ratelimit.limits.daily.window=day"
        })
@DirtiesContext(classMode = DirtiesContext.ClassMode.BEFORE_EACH_TEST_METHOD)
@ExtendWith(OutputCaptureExtension.class)
class SecondRunTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class Application {}

    @Autowired
    RateLimiter limiter;

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
    }
}
