package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.sql.AuditSql;
import java.time.YearMonth;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The tables in an SQLite file. Moments are whole microseconds. */
final class SqliteAuditDatabase extends AuditDatabase {

    private static final String ADD = """
            INSERT INTO rate_limit_audit_logs (logged_at, log_id, user_id, api_key_id, ip_address, endpoint, http_method,
                response_status, decision, requests, rule_name, rule_version, resource, subject, current_count, limit_value,
                retry_after_seconds, decided_locally, latency_micros, server_id, region)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """;

    private static final String SET_TOTALS = """
            INSERT INTO rate_limit_metrics (period_start, granularity, resource, user_id, endpoint, region, instance,
                total, allowed, throttled, blocked, exempt, failed, cache_hits, cache_misses, last_request_at, latency)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (period_start, granularity, resource, user_id, endpoint, region, instance) DO UPDATE SET
                total = excluded.total, allowed = excluded.allowed, throttled = excluded.throttled,
                blocked = excluded.blocked, exempt = excluded.exempt, failed = excluded.failed,
                cache_hits = excluded.cache_hits, cache_misses = excluded.cache_misses,
                last_request_at = excluded.last_request_at, latency = excluded.latency
            """;

    SqliteAuditDatabase(DataSource dataSource) {
        super(dataSource, dataSource, AuditSql.sqlite());
    }

    @Override
    void add(List<AuditEntry> entries) {
        write(ADD, entries.stream().map(ColumnValues::of).toList());
    }

    @Override
    void setTotals(List<TotalsRow> rows) {
        write(SET_TOTALS, rows.stream().map(ColumnValues::of).toList());
    }

    @SuppressWarnings("NullAway") // Spring 7.0 does not say that values may be null; they may
    private void write(String sql, List<@Nullable Object[]> rows) {
        int[] unused = inTransaction(() -> jdbc().getJdbcTemplate().batchUpdate(sql, rows));
    }

    @Override
    void prepare(YearMonth month) {
        // One table holds all months.
    }

    @Override
    boolean runAlone(String what, Runnable work) {
        return inTransaction(() -> {
            // The first statement writes: it waits for other writers, and the next ones read their work.
            jdbc().getJdbcTemplate().update("UPDATE rate_limit_metrics SET total = total WHERE period_start < 0");
            work.run();
            return true;
        });
    }
}
