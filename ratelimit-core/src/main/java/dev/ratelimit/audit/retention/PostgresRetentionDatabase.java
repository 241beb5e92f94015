package dev.ratelimit.audit.retention;

import dev.ratelimit.audit.sql.AuditSql;
import dev.ratelimit.audit.sql.PlainLock;
import dev.ratelimit.store.postgresql.PlainTables;
import dev.ratelimit.support.Micros;
import java.time.Instant;
import java.time.YearMonth;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Drops partitions, or deletes rows of plain tables. The lock, the reading and the drop are one transaction: without its lock,
 * an instance drops nothing.
 */
final class PostgresRetentionDatabase extends RetentionDatabase {

    private static final String PARTITIONS = """
            SELECT c.relname FROM pg_catalog.pg_inherits i
                JOIN pg_catalog.pg_class p ON p.oid = i.inhparent JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
                JOIN pg_catalog.pg_namespace n ON n.oid = p.relnamespace
            WHERE n.nspname = :schema AND p.relname = :parent ORDER BY c.relname
            """;

    /**
     * Each statement reads what is there at its time, whatever the connections of the application do by default: a transaction
     * of minutes must not keep old versions of rows alive. The transaction is idle while an archive is written. A drop must not
     * queue behind a long report, since others would queue behind the drop.
     */
    private static final String SETTINGS = """
            SET LOCAL idle_in_transaction_session_timeout = 0;
            SET LOCAL statement_timeout = '10min';
            SET LOCAL lock_timeout = '5s'
            """;

    private static final String READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n";

    private static final int ROWS_OF_A_BATCH = 500;

    private static final String LOCK = """
            SELECT pg_try_advisory_xact_lock(hashtext('dev.ratelimit.retention'), hashtext(:schema))
            """;

    private static final String FORBIDDEN = """
            SELECT f.proname FROM pg_catalog.pg_proc f JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace
            WHERE n.nspname = :schema AND f.proname IN ('rate_limit_make_partitions', 'rate_limit_drop_partition')
                AND NOT has_function_privilege(f.oid, 'EXECUTE')
            ORDER BY f.proname
            """;

    private static final String DROP = """
            SELECT %s(:parent, CAST(:day AS date), CAST(:rows AS bigint))
            """;

    private static final String DELETE = """
            DELETE FROM %s WHERE %s >= %s AND %2$s < %s%s
            """;

    private static final Pattern YEAR_AND_MONTH = Pattern.compile("_(\\d{4})_(\\d{2})");

    private final String schema;

    /** Plain tables have no partitions. */
    private final PlainTables plain;

    PostgresRetentionDatabase(DataSource dataSource, String schema) {
        super(dataSource, AuditSql.postgres(schema));
        this.schema = schema;
        this.plain = new PlainTables(schema);
    }

    private boolean isPlain() {
        return plain.isUsed(sql -> jdbc().getJdbcTemplate().queryForObject(sql, Boolean.class));
    }

    private @Nullable String partitioned(RetainedRows rows) {
        return isPlain() ? null : rows.partitioned();
    }

    @Override
    @Nullable
    Instant clock() {
        Long micros = jdbc().getJdbcTemplate().queryForObject("SELECT " + micros("clock_timestamp()"), Long.class);
        return micros == null ? null : Micros.toInstant(micros);
    }

    @Override
    List<String> forbiddenFunctions() {
        return names(FORBIDDEN, Map.of("schema", schema));
    }

    private List<String> names(String sql, Map<String, String> parameters) {
        return jdbc().query(sql, parameters, (row, number) -> row.getString(1));
    }

    @Override
    boolean runAlone(Runnable work) {
        if (isPlain()) {
            return PlainLock.runAlone(transactions(), jdbc(), table("rate_limit_locks"), "retention", SETTINGS, work);
        }
        return inTransaction(() -> {
            jdbc().getJdbcTemplate().execute(READ_COMMITTED + SETTINGS);
            boolean free = Boolean.TRUE.equals(jdbc().queryForObject(LOCK, Map.of("schema", schema), Boolean.class));
            if (free) {
                work.run();
            }
            return free;
        });
    }

    @Override
    List<YearMonth> monthsBefore(RetainedRows rows, YearMonth first) {
        String parent = partitioned(rows);
        if (parent == null) {
            return monthsWithRowsBefore(rows, first);
        }
        return names(PARTITIONS, Map.of("schema", schema, "parent", parent)).stream()
                .map(name -> YEAR_AND_MONTH.matcher(name.substring(Math.min(parent.length(), name.length()))))
                .filter(Matcher::matches)
                .map(name -> YearMonth.of(Integer.parseInt(name.group(1)), Integer.parseInt(name.group(2))))
                .filter(month -> month.isBefore(first))
                .toList();
    }

    @Override
    void drop(RetainedRows rows, YearMonth month) {
        String parent = partitioned(rows);
        if (parent != null) {
            boolean unused = drop(parent, month, null);
        } else {
            String sql = DELETE.formatted(
                    table(rows.table()), rows.timeColumn(), moment(":from"), moment(":until"), rows.condition());
            int unused = jdbc().update(sql, bounds(month));
        }
    }

    /** The function counts the rows while none can be added. Of plain tables, exactly the rows of the archive are deleted. */
    @Override
    boolean dropArchived(YearMonth month, long found, AuditRows.Source archived) {
        if (isPlain()) {
            delete(archived);
            return count(RetainedRows.AUDIT, month) == 0;
        }
        return drop(RetainedRows.AUDIT.table(), month, found);
    }

    private void delete(AuditRows.Source archived) {
        String sql = "DELETE FROM " + table(RetainedRows.AUDIT.table()) + " WHERE logged_at = " + moment("?")
                + " AND log_id = " + id("?");
        inBatches(archived, ROWS_OF_A_BATCH, keys -> {
            int[] unused = jdbc().getJdbcTemplate().batchUpdate(sql, keys);
        });
    }

    private boolean drop(String parent, YearMonth month, @Nullable Long rows) {
        Map<String, @Nullable Object> values = new HashMap<>();
        values.put("parent", parent);
        values.put("day", month.atDay(1).toString());
        values.put("rows", rows);
        return Boolean.TRUE.equals(
                jdbc().queryForObject(DROP.formatted(table("rate_limit_drop_partition")), values, Boolean.class));
    }
}
