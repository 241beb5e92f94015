package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import dev.ratelimit.autoconfigure.RateLimitPolicyAutoConfiguration;
import dev.ratelimit.engine.StoreRateLimiter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** Somebody deletes the SQLite file of a running application. */
@ExtendWith(OutputCaptureExtension.class)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows does not delete a file that is open")
class DeletedFileTest {

    private static final Duration SOON = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private ConfigurableApplicationContext start() {
        SpringApplication application =
                new SpringApplication(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        return application.run(
                "--spring.main.banner-mode=off",
                "--ratelimit.store.type=sqlite",
                "--ratelimit.store.sqlite.path=" + folder.resolve("limits.db"),
                "--ratelimit.limits.once.algorithm=fixed-window",
                "--ratelimit.limits.once.max-requests=1",
                "--ratelimit.limits.once.window=3660d",
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=1000",
                "--ratelimit.limits.calls.window=3660d");
    }

    private void delete() throws IOException {
        for (String suffix : List.of("", "-wal", "-shm")) {
            Files.deleteIfExists(folder.resolve("limits.db" + suffix));
        }
    }

    private static Outcome ask(RateLimiter limiter) {
        return ask(limiter, "calls");
    }

    private static Outcome ask(RateLimiter limiter, String limit) {
        return limiter.decide(LimitRequest.of(Subject.user("alice"), limit).onFailure(FailurePolicy.CLOSED))
                .outcome();
    }

    private static long capacity(ConfigurableApplicationContext context) {
        return context.getBean(Limits.class).get("calls").capacity();
    }

    /** Limits that were changed at run time are lost with the file, as they would be at the next start. */
    @Test
    void failurePolicyAppliesThenTheNewFileAndTheConfiguredLimits(CapturedOutput output) throws IOException {
        try (ConfigurableApplicationContext context = start()) {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            Awaitility.await().until(() -> ask(limiter) == Outcome.ALLOWED);
            context.getBean(RateLimitAdmin.class)
                    .limits()
                    .set(
                            "calls",
                            Map.of("algorithm", "fixed-window", "max-requests", "70", "window", "3660d"),
                            Change.by("ops"));
            assertThat(capacity(context)).isEqualTo(70);

            delete();

            Awaitility.await().atMost(SOON).until(() -> ask(limiter) == Outcome.FAILED);
            Awaitility.await().atMost(SOON).until(() -> ask(limiter) == Outcome.ALLOWED);
            Awaitility.await().atMost(SOON).until(() -> capacity(context) == 1000);
            assertThat(folder.resolve("limits.db")).exists();
            assertThat(output.getAll().split("was deleted while in use", -1)).hasSize(2);
            assertThat(output.getAll().lines().filter(line -> line.contains(" ERROR ")))
                    .hasSize(1);
        }
    }

    /** Nothing was ever changed at run time, so the change feeds of both files are empty. */
    @Test
    void cachedDenialsAreForgottenWithTheFile() throws IOException {
        try (ConfigurableApplicationContext context = start()) {
            StoreRateLimiter limiter = context.getBean(StoreRateLimiter.class);
            Awaitility.await().until(() -> ask(limiter, "once") == Outcome.THROTTLED);
            assertThat(limiter.status().denials().size()).isEqualTo(1);

            delete();

            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> limiter.status().denials().size() == 0);
            Awaitility.await().atMost(SOON).until(() -> ask(limiter, "once") == Outcome.ALLOWED);
        }
    }

    @Test
    void limitsCanBeChangedInTheNewFileBeforeAnyRequest() throws IOException {
        try (ConfigurableApplicationContext context = start()) {
            delete();

            context.getBean(RateLimitAdmin.class)
                    .limits()
                    .set(
                            "calls",
                            Map.of("algorithm", "fixed-window", "max-requests", "70", "window", "3660d"),
                            Change.by("ops"));

            assertThat(capacity(context)).isEqualTo(70);
            assertThat(folder.resolve("limits.db")).exists();
        }
    }

    /** Nothing but the one line that says where limits are kept. */
    @Test
    void firstStartIsQuiet(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start()) {
            assertThat(context.isRunning()).isTrue();
            assertThat(output.getAll().lines())
                    .filteredOn(line ->
                            line.contains("limits.db") || line.toLowerCase().contains("flyway"))
                    .singleElement()
                    .asString()
                    .contains("Keeping rate limits in the SQLite file");
        }
    }
}
