package dev.ratelimit.audit.retention;

import dev.ratelimit.audit.sql.AuditSql;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** Deletes rows in small batches, and lets the audit trail write between them. A lock file keeps other processes out. */
final class SqliteRetentionDatabase extends RetentionDatabase {

    private static final Duration WAIT_FOR_A_WRITER = Duration.ofSeconds(10);

    private static final int ROWS_OF_A_BATCH = 500;

    private static final String DELETE_AUDIT = """
            DELETE FROM rate_limit_audit_logs WHERE (logged_at, log_id) IN (
                SELECT logged_at, log_id FROM rate_limit_audit_logs
                WHERE logged_at >= :from AND logged_at < :until LIMIT :most)
            """;

    private static final String DELETE_TOTALS = """
            DELETE FROM rate_limit_metrics
            WHERE (period_start, granularity, resource, user_id, endpoint, region, instance) IN (
                SELECT period_start, granularity, resource, user_id, endpoint, region, instance FROM rate_limit_metrics
                WHERE period_start >= :from AND period_start < :until%s LIMIT :most)
            """;

    private static final String DELETE_ONE = "DELETE FROM rate_limit_audit_logs WHERE logged_at = ? AND log_id = ?";

    private final SqliteFile file;

    SqliteRetentionDatabase(SqliteFile file) {
        super(file.busyTimeout(WAIT_FOR_A_WRITER).dataSource(), AuditSql.sqlite());
        this.file = file;
    }

    @Override
    boolean runAlone(Runnable work) {
        return file.ifAlone("retention", work);
    }

    @Override
    List<YearMonth> monthsBefore(RetainedRows rows, YearMonth first) {
        return monthsWithRowsBefore(rows, first);
    }

    /** Day by day, so that a batch is found quickly. */
    @Override
    void drop(RetainedRows rows, YearMonth month) {
        String sql = rows == RetainedRows.AUDIT ? DELETE_AUDIT : DELETE_TOTALS.formatted(rows.condition());
        for (int day = 1; day <= month.lengthOfMonth(); day++) {
            LocalDate date = month.atDay(day);
            Map<String, Object> values =
                    Map.of("from", startMicros(date), "until", startMicros(date.plusDays(1)), "most", ROWS_OF_A_BATCH);
            int deleted = ROWS_OF_A_BATCH;
            while (deleted == ROWS_OF_A_BATCH) {
                deleted = thenRest(() -> jdbc().update(sql, values));
            }
        }
    }

    private static long startMicros(LocalDate day) {
        return Micros.of(day.atStartOfDay().toInstant(ZoneOffset.UTC));
    }

    /** Exactly the rows of the archive: others have come since it was compared. */
    @Override
    boolean dropArchived(YearMonth month, long found, AuditRows.Source archived) {
        inBatches(archived, ROWS_OF_A_BATCH, keys -> {
            int unused =
                    thenRest(() -> inTransaction(() -> jdbc().getJdbcTemplate().batchUpdate(DELETE_ONE, keys)).length);
        });
        return count(RetainedRows.AUDIT, month) == 0;
    }

    /** Others write for at least as long. */
    private static int thenRest(IntSupplier batch) {
        long start = System.nanoTime();
        int rows = batch.getAsInt();
        try {
            TimeUnit.NANOSECONDS.sleep(System.nanoTime() - start);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted; the next run deletes the rest", e);
        }
        return rows;
    }
}
