package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/** A store that is unavailable at startup and comes later: {@code ratelimit.store.required: false}. */
@ExtendWith(OutputCaptureExtension.class)
class StoreDownAtStartTest {

    private static final String WITHOUT =
            "Starting without the rate limit store; applying on-failure until it is available: ";
    private static final String WITHOUT_AUDIT = "Starting without the audit trail; ";
    private static final String WITHOUT_POLICIES = "Starting without stored limits and rules; ";
    private static final String AVAILABLE = "The rate limit store is available; keeping rate limits in ";

    private static final AuditQuery EVERYTHING = AuditQuery.since(Instant.EPOCH, 10);

    private static final Duration SOON = Duration.ofMinutes(1);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class Application {}

    private static ConfigurableApplicationContext start(String... settings) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        String[] arguments = new String[settings.length + 4];
        arguments[0] = "--spring.main.banner-mode=off";
        arguments[1] = "--ratelimit.limits.calls.algorithm=fixed-window";
        arguments[2] = "--ratelimit.limits.calls.max-requests=1000";
        arguments[3] = "--ratelimit.limits.calls.window=3660d";
        for (int i = 0; i < settings.length; i++) {
            arguments[i + 4] = "--" + settings[i];
        }
        return application.run(arguments);
    }

    private static Decision decide(ConfigurableApplicationContext context, FailurePolicy policy) {
        return context.getBean(RateLimiter.class)
                .decide(LimitRequest.of(Subject.user("alice"), "calls").onFailure(policy));
    }

    private static long capacity(ConfigurableApplicationContext context) {
        return context.getBean(Limits.class).get("calls").capacity();
    }

    private static int count(CapturedOutput output, String text) {
        return output.getAll().split(Pattern.quote(text), -1).length - 1;
    }

    @Test
    void databaseThatComesLaterIsMigratedAndUsed(@TempDir Path folder, CapturedOutput output) {
        try (StoppablePostgres server = new StoppablePostgres(folder);
                ConfigurableApplicationContext context =
                        start("ratelimit.store.postgresql.url=" + server.jdbcUrl(), "ratelimit.store.required=false")) {
            assertThat(count(output, WITHOUT)).isEqualTo(1);
            assertThat(decide(context, FailurePolicy.CLOSED).outcome()).isEqualTo(Outcome.FAILED);
            assertThat(decide(context, FailurePolicy.LOCAL).allowed()).isTrue();
            assertThat(capacity(context)).isEqualTo(1000);

            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> count(output, "Could not write the audit trail and totals") > 0);
            assertThat(output).contains("trying again: Connection to ").doesNotContain("\tat ");

            server.start();

            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> decide(context, FailurePolicy.CLOSED).outcome() == Outcome.ALLOWED);
            assertThat(count(output, AVAILABLE + "PostgreSQL, schema ratelimit"))
                    .isEqualTo(1);
            assertThat(count(output, WITHOUT)).isEqualTo(1);
            awaitChange(context);
        }
    }

    /** Limits can be changed as soon as the tables were read. */
    private static void awaitChange(ConfigurableApplicationContext context) {
        Awaitility.await().atMost(SOON).ignoreExceptions().until(() -> {
            context.getBean(RateLimitAdmin.class).limits().set("calls", calls("50"), Change.by("ops"));
            return true;
        });
        assertThat(capacity(context)).isEqualTo(50);
    }

    private static Map<String, String> calls(String most) {
        return Map.of("algorithm", "fixed-window", "max-requests", most, "window", "3660d");
    }

    @Test
    void storedLimitsApplyAsSoonAsTheDatabaseIsThere(@TempDir Path folder) {
        try (StoppablePostgres server = new StoppablePostgres(folder)) {
            server.start();
            String url = "ratelimit.store.postgresql.url=" + server.jdbcUrl();
            try (ConfigurableApplicationContext context = start(url, "ratelimit.store.required=false")) {
                context.getBean(RateLimitAdmin.class).limits().set("calls", calls("70"), Change.by("ops"));
            }
            server.stop();
            // Also where the interval is long.
            try (ConfigurableApplicationContext context =
                    start(url, "ratelimit.store.required=false", "ratelimit.changes.poll-interval=1h")) {
                assertThat(capacity(context)).isEqualTo(1000);

                server.start();

                Awaitility.await().atMost(SOON).until(() -> capacity(context) == 70);
            }
        }
    }

    @Test
    void folderThatIsMountedLaterIsUsed(@TempDir Path folder, CapturedOutput output) throws IOException {
        Path volume = folder.resolve("volume");
        try (ConfigurableApplicationContext context = start(
                "ratelimit.store.type=sqlite",
                "ratelimit.store.sqlite.path=" + volume.resolve("limits.db"),
                "ratelimit.store.required=false")) {
            assertThat(decide(context, FailurePolicy.CLOSED).outcome()).isEqualTo(Outcome.FAILED);
            Reports reports = context.getBean(Reports.class);
            assertThatThrownBy(() -> reports.entries(EVERYTHING)).isInstanceOf(DataAccessException.class);
            assertThat(count(output, WITHOUT_AUDIT)).isEqualTo(1);

            Files.createDirectory(volume);

            assertThat(reports.entries(EVERYTHING)).isEmpty();
            assertThat(volume.resolve("limits-audit.db")).exists();

            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> decide(context, FailurePolicy.CLOSED).outcome() == Outcome.ALLOWED);
            awaitChange(context);
            assertThat(count(output, WITHOUT)).isEqualTo(1);
            assertThat(count(output, AVAILABLE)).isEqualTo(1);
        }
    }

    /** Its volume was not mounted when the application was started, and has a file of an earlier run. */
    @Test
    void auditFileThatComesLaterIsChecked(@TempDir Path folder) throws IOException {
        Path volume = folder.resolve("volume");
        try (ConfigurableApplicationContext context = start(
                "ratelimit.store.type=sqlite",
                "ratelimit.store.sqlite.path=" + folder.resolve("limits.db"),
                "ratelimit.audit.sqlite-path=" + volume.resolve("audit.db"),
                "ratelimit.store.deadline=10s",
                "ratelimit.store.required=false")) {
            assertThat(decide(context, FailurePolicy.CLOSED).outcome()).isEqualTo(Outcome.ALLOWED);

            Files.createDirectory(volume);
            Files.writeString(volume.resolve("audit.db"), "");

            assertThat(context.getBean(Reports.class).entries(EVERYTHING)).isEmpty();
        }
    }

    @Test
    void auditFileIsRequiredUnlessTheStoreIsNot(@TempDir Path folder) {
        assertThatThrownBy(() -> start(
                                "ratelimit.store.type=sqlite",
                                "ratelimit.store.sqlite.path=" + folder.resolve("limits.db"),
                                "ratelimit.audit.sqlite-path=" + folder.resolve("volume/audit.db"))
                        .close())
                .hasStackTraceContaining("volume/audit.db");
    }

    @Test
    void databaseOfLimitsAndRulesThatComesLaterIsMigratedAndUsed(@TempDir Path folder, CapturedOutput output) {
        try (StoppablePostgres server = new StoppablePostgres(folder);
                ConfigurableApplicationContext context = start(
                        "ratelimit.store.type=memory",
                        "ratelimit.policy.store=postgresql",
                        "ratelimit.store.postgresql.url=" + server.jdbcUrl(),
                        "ratelimit.changes.poll-interval=1h",
                        "ratelimit.store.required=false")) {
            assertThat(count(output, WITHOUT_POLICIES)).isEqualTo(1);
            assertThat(decide(context, FailurePolicy.CLOSED).outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(capacity(context)).isEqualTo(1000);
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            assertThatThrownBy(() -> admin.limits().set("calls", calls("50"), Change.by("ops")))
                    .isInstanceOfAny(DataAccessException.class, TransactionException.class);

            server.start();

            awaitChange(context);
            String applying = "Applying the limits and rules that are stored in the PostgreSQL schema ratelimit";
            Awaitility.await().atMost(SOON).until(() -> count(output, applying) == 1);
        }
    }

    @Test
    void fileOfLimitsAndRulesThatComesLaterIsMigratedAndUsed(@TempDir Path folder, CapturedOutput output)
            throws IOException {
        Path volume = folder.resolve("volume");
        try (ConfigurableApplicationContext context = start(
                "ratelimit.store.type=memory",
                "ratelimit.policy.store=sqlite",
                "ratelimit.store.sqlite.path=" + volume.resolve("limits.db"),
                "ratelimit.store.required=false")) {
            assertThat(count(output, WITHOUT_POLICIES)).isEqualTo(1);
            assertThat(capacity(context)).isEqualTo(1000);

            Files.createDirectory(volume);
            Files.writeString(volume.resolve("limits.db"), "");

            awaitChange(context);
        }
    }

    @Test
    void databaseOfLimitsAndRulesIsRequiredUnlessTheStoreIsNot() {
        assertThatThrownBy(() -> start(
                                "ratelimit.store.type=memory",
                                "ratelimit.policy.store=postgresql",
                                "ratelimit.store.postgresql.url=jdbc:postgresql://127.0.0.1:1/none")
                        .close())
                .hasStackTraceContaining("PostgreSQL cannot be reached");
    }

    @Test
    void storeThatIsAvailableIsUsedFromTheStart(@TempDir Path folder, CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(
                "ratelimit.store.type=sqlite",
                "ratelimit.store.sqlite.path=" + folder.resolve("limits.db"),
                "ratelimit.store.deadline=10s",
                "ratelimit.store.required=false")) {
            assertThat(decide(context, FailurePolicy.CLOSED).outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(count(output, WITHOUT)).isZero();
        }
    }

    /** It is not unavailable: waiting would not help. */
    @Test
    void newerSchemaStopsTheStartAllTheSame() {
        RestrictedRole role = RestrictedRole.create().withTables();
        RestrictedRole.execute("INSERT INTO " + role.schema()
                + ".ratelimit_schema_history (version, script) VALUES (99, 'V99__new.sql')");

        assertThatThrownBy(() -> start(
                                "ratelimit.store.postgresql.url="
                                        + TestPostgres.instance().jdbcUrl(),
                                "ratelimit.store.postgresql.schema=" + role.schema(),
                                "ratelimit.store.required=false")
                        .close())
                .rootCause()
                .hasMessageContaining("is at version 99");
    }
}
