package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.report.Reports.Granularity;
import dev.ratelimit.monitor.Warning;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.operate.LimitView;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The audit trail and totals of an application. */
class AuditTest {

    @TempDir
    private Path folder;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {}

    @RestController
    static class Endpoints {

        @GetMapping("/a/{id}")
        String answer() {
            return "x";
        }
    }

    private static RunningApplication start(String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.limits.one.algorithm=fixed-window",
                "ratelimit.limits.one.max-requests=1",
                "ratelimit.limits.one.window=3660d",
                "ratelimit.rules.a.path=/a/**",
                "ratelimit.rules.a.key=ip",
                "ratelimit.rules.a.limits=one",
                "ratelimit.audit.server-id=server-7",
                "ratelimit.audit.region=eu"));
        all.addAll(Arrays.asList(settings));
        return RunningApplication.start(List.of(Application.class, Endpoints.class), all.toArray(String[]::new));
    }

    private String[] store(String kind) {
        return kind.equals("sqlite")
                ? new String[] {"ratelimit.store.sqlite.path=" + folder.resolve("limits.db")}
                : new String[] {
                    "ratelimit.store.postgresql.url=" + TestPostgres.instance().jdbcUrl(),
                    "ratelimit.store.postgresql.schema="
                            + TestPostgres.instance().freshSchema()
                };
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql"})
    void denialIsInTheAuditTrailAndAllRequestsAreInTheTotals(String kind) throws Exception {
        try (RunningApplication application = start(store(kind))) {
            Instant start = Instant.now().minusSeconds(120);
            assertThat(application.get("/a/1").statusCode()).isEqualTo(200);
            assertThat(application.get("/a/1").statusCode()).isEqualTo(429);

            Reports reports = application.bean(Reports.class);
            List<AuditEntry> entries = Awaitility.await()
                    .until(() -> reports.entries(AuditQuery.since(start, 10)), found -> !found.isEmpty());
            AuditEntry entry = entries.get(0);
            assertThat(entries).hasSize(1);
            assertThat(entry.decision()).isEqualTo(AuditDecision.THROTTLED);
            assertThat(entry.what()).isEqualTo(new AuditEntry.Exchange("GET", "/a/1", 429));
            assertThat(entry.cause().rule()).isEqualTo("a");
            assertThat(entry.cause().limit()).isEqualTo("one");
            assertThat(entry.origin()).isEqualTo(new AuditEntry.Origin("server-7", "eu"));

            application.bean(RequestAudit.class).flush();
            List<Reports.Period> minutes =
                    reports.timeline("one", Granularity.MINUTE, start, start.plus(Duration.ofHours(1)));
            assertThat(minutes.stream().mapToLong(one -> one.totals().allowed()).sum())
                    .isEqualTo(1);
            assertThat(minutes.stream()
                            .mapToLong(one -> one.totals().throttled())
                            .sum())
                    .isEqualTo(1);
        }
        if (kind.equals("sqlite")) {
            assertThat(folder.resolve("limits-audit.db")).exists();
        }
    }

    @Test
    void auditDatabaseThatFailsAloneIsAWarningAndConcernsNoRequest() throws Exception {
        try (RunningApplication application = start(store("sqlite"))) {
            Warnings warnings = application.bean(Warnings.class);
            changeAuditDatabase("ALTER TABLE rate_limit_audit_logs RENAME TO hidden");

            assertThat(application.get("/a/1").statusCode()).isEqualTo(200);
            assertThat(application.get("/a/1").statusCode()).isEqualTo(429);
            Awaitility.await()
                    .untilAsserted(() -> assertThat(warnings.current())
                            .extracting(Warning::kind)
                            .containsExactly(Warning.Kind.AUDIT_FAILING));
            assertThat(warnings.current().get(0).sentence()).contains("rate_limit_audit_logs");
            assertThat(application.get("/a/1").statusCode()).isEqualTo(429);

            changeAuditDatabase("ALTER TABLE hidden RENAME TO rate_limit_audit_logs");
            Awaitility.await()
                    .untilAsserted(() -> assertThat(warnings.current()).isEmpty());
            assertThat(application.bean(Reports.class).entries(AuditQuery.since(Instant.EPOCH, 10)).stream()
                            .mapToLong(AuditEntry::requests)
                            .sum())
                    .isEqualTo(2);
        }
    }

    private void changeAuditDatabase(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("limits-audit.db"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void limitOnTrialHasItsOwnUsage() throws Exception {
        try (RunningApplication application =
                start(with(store("sqlite"), "ratelimit.limits.one.candidate.max-requests=2"))) {
            application.get("/a/1");
            application.get("/a/1");

            Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                application.bean(RequestAudit.class).flush();
                LimitView limit = application.bean(Operations.class).limit("one");
                assertThat(limit.lastHour()).isEqualTo(new LimitView.Traffic(2, 1, 50));
                assertThat(limit.trial().lastHour()).isEqualTo(new LimitView.Traffic(2, 0, 0));
            });
        }
    }

    @Test
    void restIsWrittenWhenTheApplicationStops() throws Exception {
        String[] store = store("sqlite");
        try (RunningApplication application = start(with(store, "ratelimit.audit.interval=1m"))) {
            application.get("/a/1");
            application.get("/a/1");
        }
        try (RunningApplication application = start(store)) {
            assertThat(application.bean(Reports.class).entries(AuditQuery.since(Instant.EPOCH, 10)))
                    .hasSize(1);
        }
    }

    private static String[] with(String[] settings, String one) {
        String[] all = Arrays.copyOf(settings, settings.length + 1);
        all[settings.length] = one;
        return all;
    }

    /** An application that has reports injected starts all the same. */
    @ParameterizedTest
    @CsvSource({
        "ratelimit.store.type=memory, set ratelimit.policy.store or ratelimit.store.type to sqlite or postgresql",
        "ratelimit.enabled=false, set ratelimit.enabled to true"
    })
    void withoutADatabaseThereIsNoAuditTrail(String setting, String remedy) {
        try (RunningApplication application = start(setting)) {
            Reports reports = application.bean(Reports.class);
            assertThatThrownBy(() -> reports.busiest(Instant.EPOCH, 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("there are no reports")
                    .hasMessageEndingWith(remedy);
        }
    }

    @Test
    void databaseThatComesLaterGetsTheRowsOfBefore(@TempDir Path data) throws Exception {
        try (StoppablePostgres server = new StoppablePostgres(data);
                RunningApplication application = start(
                        "ratelimit.store.postgresql.url=" + server.jdbcUrl(),
                        "ratelimit.store.required=false",
                        "ratelimit.on-failure=closed")) {
            assertThat(application.get("/a/1").statusCode()).isEqualTo(503);

            server.start();

            Awaitility.await()
                    .atMost(Duration.ofMinutes(1))
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(
                                    application.bean(Reports.class).entries(AuditQuery.since(Instant.EPOCH, 10)))
                            .extracting(AuditEntry::decision)
                            .contains(AuditDecision.FAILED_CLOSED));
        }
    }

    @Test
    void slowReportsDoNotKeepTheAuditTrailWaiting() throws Exception {
        String schema = TestPostgres.instance().freshSchema();
        ExecutorService readers = Executors.newFixedThreadPool(6);
        try (RunningApplication application = start(
                        "ratelimit.store.postgresql.url="
                                + TestPostgres.instance().jdbcUrl(),
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.audit.totals=false",
                        "ratelimit.audit.interval=1m");
                Connection locking = TestPostgres.instance().dataSource().getConnection();
                Statement lock = locking.createStatement()) {
            RequestAudit audit = application.bean(RequestAudit.class);
            Reports reports = application.bean(Reports.class);
            // A busy machine may take long to open the first connection.
            Awaitility.await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> isWritten(audit));
            locking.setAutoCommit(false);
            lock.execute("LOCK TABLE " + schema + ".rate_limit_metrics");
            for (int i = 0; i < 6; i++) {
                readers.execute(() -> reports.busiest(Instant.EPOCH, 1));
            }
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> waitingFor(schema) >= 2);
            application.get("/a/1");
            application.get("/a/1");
            // The record of a request is complete a moment after its response.
            Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> audit.waiting() == 1);

            // Reports give up after 30 seconds.
            Awaitility.await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> isWritten(audit));

            locking.rollback();
            locking.setAutoCommit(true);
        } finally {
            readers.shutdownNow();
        }
    }

    private static boolean isWritten(RequestAudit audit) {
        audit.flush();
        return audit.waiting() == 0;
    }

    private static long waitingFor(String schema) {
        Long waiting = new JdbcTemplate(TestPostgres.instance().dataSource())
                .queryForObject(
                        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = ?::regclass",
                        Long.class,
                        schema + ".rate_limit_metrics");
        return waiting == null ? 0 : waiting;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ratelimit.audit.sample-rate=2|ratelimit.audit.sample-rate|write a share from 0 to 1",
                "ratelimit.audit.capacity=5|ratelimit.audit.capacity|from 100 to 1000000",
                "ratelimit.audit.interval=0s|ratelimit.audit.interval|such as 1s",
                "ratelimit.audit.mode=every|ratelimit.audit.mode|every"
            })
    void invalidSettingStopsTheStart(String setting, String property, String advice) {
        assertThatThrownBy(() -> start(with(store("sqlite"), setting)).close())
                .hasStackTraceContaining(property)
                .hasStackTraceContaining(advice);
    }
}
