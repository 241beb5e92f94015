package dev.ratelimit.audit.retention;

import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** A real database with the current schema and nothing in it. */
record RetentionTestDatabase(
        String schema, DataSource dataSource, Supplier<RetentionDatabase> opening, boolean hasPartitions) {

    static RetentionTestDatabase sqlite(Path path) {
        SqliteFile file = SqliteFile.at(path);
        Schema.migrateAudit(file);
        return new RetentionTestDatabase("", file.dataSource(), () -> RetentionDatabase.sqlite(file), false);
    }

    /** In a schema of its own, whose name must be quoted. */
    static RetentionTestDatabase postgres() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = "Test" + TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        return new RetentionTestDatabase(
                schema, dataSource, () -> RetentionDatabase.postgres(dataSource, schema), true);
    }

    /** The same without partitions. */
    static RetentionTestDatabase plain() {
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = "Test" + TestPostgres.instance().freshSchema();
        Schema.migratePlain(dataSource, schema);
        return new RetentionTestDatabase(
                schema, dataSource, () -> RetentionDatabase.postgres(dataSource, schema), false);
    }

    /** As another instance would open it. */
    RetentionDatabase open() {
        return opening.get();
    }

    boolean isPostgres() {
        return !schema.isEmpty();
    }

    String table(String name) {
        return isPostgres() ? '"' + schema + "\"." + name : name;
    }

    private String moment() {
        return isPostgres() ? "(timestamptz 'epoch' + ? * interval '1 microsecond')" : "?";
    }

    private void makeMonth(Instant at) {
        if (hasPartitions) {
            jdbc().queryForList(
                            "SELECT " + table("rate_limit_make_partitions") + "(?::date)",
                            at.atZone(ZoneOffset.UTC).toLocalDate().toString());
        }
    }

    JdbcTemplate jdbc() {
        return new JdbcTemplate(dataSource);
    }

    /** A row with odd values and with missing ones. */
    static AuditRow row(Instant at, String user) {
        return new AuditRow(
                at,
                UUID.randomUUID(),
                user,
                null,
                "192.0.2.1",
                "/api/{id}",
                "GET",
                429,
                "throttled",
                3,
                "rule \"ü\"\n",
                null,
                "api",
                "user:" + user,
                10L,
                10L,
                null,
                true,
                250,
                "server-1",
                "");
    }

    AuditRow addAudit(Instant at, String user) {
        AuditRow row = row(at, user);
        add(List.of(row));
        return row;
    }

    /** Adds rows of one month. */
    void add(List<AuditRow> rows) {
        makeMonth(rows.get(0).loggedAt());
        String id = isPostgres() ? "?::uuid" : "?";
        int[] unused = jdbc().batchUpdate(
                        "INSERT INTO " + table("rate_limit_audit_logs")
                                + " (logged_at, log_id, user_id, api_key_id, ip_address, endpoint, http_method,"
                                + " response_status, decision, requests, rule_name, rule_version, resource, subject,"
                                + " current_count, limit_value, retry_after_seconds, decided_locally, latency_micros,"
                                + " server_id, region) VALUES (" + moment() + ", " + id + ", ?".repeat(19) + ")",
                        rows.stream().map(RetentionTestDatabase::values).toList());
    }

    private static Object[] values(AuditRow row) {
        return new Object[] {
            Micros.of(row.loggedAt()),
            row.logId().toString(),
            row.userId(),
            row.apiKeyId(),
            row.ipAddress(),
            row.endpoint(),
            row.httpMethod(),
            row.responseStatus(),
            row.decision(),
            row.requests(),
            row.ruleName(),
            row.ruleVersion(),
            row.resource(),
            row.subject(),
            row.currentCount(),
            row.limitValue(),
            row.retryAfterSeconds(),
            row.decidedLocally(),
            row.latencyMicros(),
            row.serverId(),
            row.region()
        };
    }

    void addTotals(Instant at, String granularity) {
        makeMonth(at);
        jdbc().update(
                        "INSERT INTO " + table("rate_limit_metrics")
                                + " (period_start, granularity, resource, user_id, endpoint, region, instance, total, allowed,"
                                + " throttled, blocked, exempt, failed, last_request_at) VALUES (" + moment()
                                + ", ?, 'api', ?, '', '', '', 1, 1, 0, 0, 0, 0, " + moment() + ")",
                        Micros.of(at),
                        granularity,
                        UUID.randomUUID().toString(),
                        Micros.of(at));
    }

    /** The users of the audit trail that is left. */
    List<String> users() {
        return jdbc().queryForList(
                        "SELECT user_id FROM " + table("rate_limit_audit_logs") + " ORDER BY logged_at, log_id",
                        String.class);
    }

    /** The granularities of the totals that are left. */
    List<String> totals() {
        return jdbc().queryForList(
                        "SELECT granularity FROM " + table("rate_limit_metrics") + " ORDER BY granularity",
                        String.class);
    }
}
