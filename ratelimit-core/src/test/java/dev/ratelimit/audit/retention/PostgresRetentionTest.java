package dev.ratelimit.audit.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.audit.AuditDatabase;
import dev.ratelimit.audit.AuditMode;
import dev.ratelimit.audit.AuditSettings;
import dev.ratelimit.audit.CacheUse;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.datasource.DelegatingDataSource;

class PostgresRetentionTest extends RetentionContract {

    @Override
    RetentionTestDatabase create() {
        RetentionTestDatabase created = RetentionTestDatabase.postgres();
        // Those that the script makes for the time at which the test runs.
        created.jdbc()
                .queryForList(
                        "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(?))"
                                + " AND relispartition AND relkind = 'r' AND relname ~ '_[0-9]{4}_[0-9]{2}$'",
                        String.class, created.schema())
                .forEach(partition -> created.jdbc().execute("DROP TABLE " + partition));
        return created;
    }

    private List<String> partitions(String table) {
        return database.jdbc()
                .queryForList(
                        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
                                + " WHERE i.inhparent = ?::regclass ORDER BY 1",
                        String.class,
                        database.table(table));
    }

    private RequestAudit audit() {
        return audit(database.dataSource());
    }

    private RequestAudit audit(DataSource dataSource) {
        AuditSettings settings = AuditSettings.of(AuditMode.DENIED, new AuditEntry.Origin("server-1", ""));
        return new RequestAudit(AuditDatabase.postgres(dataSource, database.schema()), settings, clock, CacheUse.NONE);
    }

    /** Connections whose sessions are in a time zone. */
    private static DataSource inZone(String zone) {
        PGSimpleDataSource plain = new PGSimpleDataSource();
        plain.setUrl(TestPostgres.instance().jdbcUrl());
        return new DelegatingDataSource(plain) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                try (Statement statement = connection.createStatement()) {
                    statement.execute("SET TIME ZONE '" + zone + "'");
                }
                return connection;
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"Pacific/Kiritimati", "America/Los_Angeles"})
    void monthsAndDaysAreThoseOfUtcInEveryTimeZone(String zone) {
        DataSource there = inZone(zone);
        try (RequestAudit audit = audit(there)) {
            clock.set(firstMomentOf(JANUARY).minusNanos(1_000));
            audit.recorded(blocked("december"));
            audit.flush();
            clock.set(firstMomentOf(JANUARY));
            audit.recorded(blocked("january"));
            audit.flush();
        }
        assertThat(database.jdbc()
                        .queryForList(
                                "SELECT user_id || ' in ' || right(replace(tableoid::regclass::text, '\"', ''), 7) FROM "
                                        + database.table("rate_limit_audit_logs") + " ORDER BY logged_at",
                                String.class))
                .containsExactly("december in 2025_12", "january in 2026_01");
        assertThat(database.jdbc()
                        .queryForList(
                                "SELECT DISTINCT extract(epoch FROM period_start) FROM "
                                        + database.table("rate_limit_metrics")
                                        + " WHERE granularity = 'day' ORDER BY 1",
                                Long.class))
                .containsExactly(
                        firstMomentOf(JANUARY).minus(Duration.ofDays(1)).getEpochSecond(),
                        firstMomentOf(JANUARY).getEpochSecond());

        try (Retention retention = new Retention(
                RetentionDatabase.postgres(there, database.schema()), RetentionSettings.DEFAULT, archive, clock)) {
            clock.set(DECEMBER_ENDS.minusNanos(1_000));
            retention.run();
            assertThat(database.users()).containsExactly("december", "january");
            clock.set(DECEMBER_ENDS);
            retention.run();
            assertThat(retention.failures()).isEmpty();
        }
        assertThat(database.users()).containsExactly("january");
        assertThat(archive.rows(DECEMBER)).extracting(AuditRow::userId).containsExactly("december");
    }

    @Test
    void partitionsAreMadeAheadAndDroppedBehindAcrossTheEndOfAYear() {
        clock.set(Instant.parse("2025-11-30T23:59:59Z"));
        try (RequestAudit audit = audit()) {
            audit.flush();
            assertThat(partitions("rate_limit_audit_logs"))
                    .containsExactly("rate_limit_audit_logs_2025_11", "rate_limit_audit_logs_2025_12");
            clock.set(Instant.parse("2025-12-01T01:00:00Z"));
            audit.flush();
            clock.set(Instant.parse("2026-03-01T00:00:00Z"));
            audit.flush();
        }

        retention(null).run();

        assertThat(partitions("rate_limit_audit_logs"))
                .containsExactly(
                        "rate_limit_audit_logs_2025_12",
                        "rate_limit_audit_logs_2026_01",
                        "rate_limit_audit_logs_2026_03",
                        "rate_limit_audit_logs_2026_04");
        assertThat(partitions("rate_limit_metrics_minute"))
                .containsExactly(
                        "rate_limit_metrics_minute_2026_01",
                        "rate_limit_metrics_minute_2026_03",
                        "rate_limit_metrics_minute_2026_04");
        assertThat(partitions("rate_limit_metrics_hour")).hasSize(5);
    }

    @Test
    void partitionWithAnotherNameIsLeftAlone() {
        database.jdbc()
                .execute("CREATE TABLE " + database.table("mine") + " PARTITION OF "
                        + database.table("rate_limit_audit_logs")
                        + " FOR VALUES FROM ('2001-01-01') TO ('2002-01-01')");

        assertThat(retention(null).run().dropped()).isEmpty();

        assertThat(partitions("rate_limit_audit_logs")).containsExactly("mine");
    }

    @Test
    void auditTrailIsWrittenThoughANewMonthBeginsWhileAnotherIsArchived() {
        database.addAudit(in(DECEMBER), "old");
        AtomicInteger held = new AtomicInteger();
        archive.hook(step -> {
            if (step == MemoryArchive.Stage.BEFORE_WRITE) {
                held.incrementAndGet();
                writeInANewMonth();
            }
        });

        RetentionReport report = retention(archive).run();

        assertThat(report.failures()).isEmpty();
        assertThat(held).hasValue(1);
        assertThat(database.users()).containsExactly("new");
    }

    /** As another instance does, which has not made this month ahead. */
    private void writeInANewMonth() {
        try (RequestAudit audit = audit()) {
            audit.recorded(blocked("new"));
            audit.flush();
        }
        assertThat(database.users()).containsExactly("old", "new");
        assertThat(partitions("rate_limit_audit_logs")).contains("rate_limit_audit_logs_2026_05");
    }

    private RequestRecord blocked(String user) {
        return new RequestRecord(
                Outcome.BLOCKED,
                false,
                null,
                null,
                Duration.ZERO,
                List.of(),
                new RequestRecord.Exchange("GET", "/", null, 403, "192.0.2.1", user, null, null),
                clock.instant());
    }

    /** Partitions are attached: they have what the table has. */
    @Test
    void partitionsHaveTheColumnsChecksAndIndexesOfTheirTable() {
        database.addTotals(in(DECEMBER), "minute");

        assertThat(database.jdbc()
                        .queryForList(
                                "SELECT count(*) FROM pg_index i WHERE i.indrelid = ?::regclass",
                                Long.class,
                                database.table("rate_limit_metrics_minute_2025_12")))
                .containsExactly(2L);
        assertThat(database.jdbc()
                        .queryForList(
                                "SELECT count(*) FROM pg_attribute c JOIN pg_attribute p ON p.attname = c.attname"
                                        + " WHERE c.attrelid = ?::regclass AND p.attrelid = ?::regclass AND c.attnum > 0"
                                        + " AND (c.attnotnull, c.attcollation, c.atthasdef) = (p.attnotnull, p.attcollation,"
                                        + " p.atthasdef)",
                                Long.class,
                                database.table("rate_limit_metrics_minute_2025_12"),
                                database.table("rate_limit_metrics")))
                .containsExactly(18L);
    }

    @Test
    void clockThatIsYearsAheadDropsNothing() {
        Instant real = Instant.now();
        database.addAudit(real, "recent");
        clock.set(real.plus(Duration.ofDays(3_650)));

        assertThat(retention(null).plan().drops()).isEmpty();
        assertThat(retention(null).run().dropped()).isEmpty();

        assertThat(database.users()).containsExactly("recent");
    }

    @Test
    void dryRunDoesNotWaitForeverForATable() throws Exception {
        database.addAudit(in(DECEMBER), "old");
        try (Connection other = database.dataSource().getConnection()) {
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                statement.execute("LOCK TABLE " + database.table("rate_limit_audit_logs"));
            }
            RetentionDatabase months = database.open();
            assertThatThrownBy(
                            () -> months.read(Duration.ofSeconds(1), () -> months.count(RetainedRows.AUDIT, DECEMBER)))
                    .isInstanceOf(QueryTimeoutException.class);
            other.rollback();
        }
    }

    /** The lock and the drop are one transaction. */
    @Test
    void instanceThatLosesItsLockDropsNothing() {
        database.addAudit(in(DECEMBER), "old");
        archive.hook(step -> {
            if (step == MemoryArchive.Stage.BEFORE_WRITE) {
                assertThat(database.jdbc()
                                .queryForList(
                                        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                                                + " AND objid = (hashtext(?)::bigint & 4294967295)::oid",
                                        Boolean.class,
                                        database.schema()))
                        .containsExactly(true);
            }
        });

        RetentionReport report = retention(archive).run();

        assertThat(report.failures()).singleElement().asString().contains("2025-12");
        assertThat(database.users()).containsExactly("old");
    }
}
