package dev.ratelimit.archive;

import dev.ratelimit.audit.retention.AuditArchive;
import dev.ratelimit.audit.retention.AuditRow;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.audit.retention.RetentionDatabase;
import dev.ratelimit.audit.retention.RetentionSettings;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** An audit trail in a real database. */
record TestTrail(String schema, DataSource dataSource, RetentionDatabase database) {

    enum Kind {
        SQLITE,
        POSTGRESQL
    }

    static TestTrail create(Kind kind, Path folder) {
        if (kind == Kind.SQLITE) {
            SqliteFile file = SqliteFile.at(folder.resolve("ratelimit-audit.db"));
            Schema.migrateAudit(file);
            return new TestTrail("", file.dataSource(), RetentionDatabase.sqlite(file));
        }
        DataSource dataSource = TestPostgres.instance().dataSource();
        String schema = TestPostgres.instance().freshSchema();
        Schema.migrate(dataSource, schema);
        return new TestTrail(schema, dataSource, RetentionDatabase.postgres(dataSource, schema));
    }

    Retention retention(AuditArchive archive, InstantSource clock) {
        return new Retention(database, RetentionSettings.DEFAULT, archive, clock);
    }

    private boolean isPostgres() {
        return !schema.isEmpty();
    }

    private String table() {
        return (isPostgres() ? schema + "." : "") + "rate_limit_audit_logs";
    }

    JdbcTemplate jdbc() {
        return new JdbcTemplate(dataSource);
    }

    /** Every second row lacks all values that may be missing; the others have odd ones. */
    static AuditRow row(Instant at, int number) {
        boolean full = number % 2 == 0;
        return new AuditRow(
                at,
                UUID.randomUUID(),
                full ? "ünï\n\"'\\\u0001;--" + number : null,
                full ? "key-" + number : null,
                full ? "2001:db8::" + number : null,
                full ? "/api/{id}" : null,
                full ? "GET" : null,
                full ? 429 : null,
                full ? "throttled" : "failed_open",
                Long.MAX_VALUE - number,
                full ? "" : null,
                full ? Integer.MAX_VALUE : null,
                full ? "api" : null,
                full ? "user:\ud83d\ude00" : null,
                full ? Long.MIN_VALUE : null,
                full ? 0L : null,
                full ? 42L : null,
                full,
                number,
                "server-1",
                full ? "eu" : "");
    }

    /** Adds rows of one month. */
    void add(List<AuditRow> rows) {
        if (isPostgres()) {
            jdbc().queryForList(
                            "SELECT " + schema + ".rate_limit_make_partitions(?::date)",
                            rows.get(0)
                                    .loggedAt()
                                    .atZone(ZoneOffset.UTC)
                                    .toLocalDate()
                                    .toString());
        }
        String key = isPostgres() ? "timestamptz 'epoch' + ? * interval '1 microsecond', ?::uuid" : "?, ?";
        int[] unused = jdbc().batchUpdate(
                        "INSERT INTO " + table()
                                + " (logged_at, log_id, user_id, api_key_id, ip_address, endpoint, http_method,"
                                + " response_status, decision, requests, rule_name, rule_version, resource, subject,"
                                + " current_count, limit_value, retry_after_seconds, decided_locally, latency_micros,"
                                + " server_id, region) VALUES (" + key + ", ?".repeat(19) + ")",
                        rows.stream().map(TestTrail::values).toList());
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

    long size() {
        Long size = jdbc().queryForObject("SELECT count(*) FROM " + table(), Long.class);
        return size == null ? 0 : size;
    }
}
