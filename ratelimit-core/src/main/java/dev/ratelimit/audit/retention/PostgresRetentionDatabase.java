package dev.ratelimit.audit.retention;

import dev.ratelimit.audit.AuditSql;
import java.time.YearMonth;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Drops partitions. The lock, the reading and the drop are one transaction: without its lock, an instance drops nothing. */
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
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            SET LOCAL idle_in_transaction_session_timeout = 0;
            SET LOCAL statement_timeout = '10min';
            SET LOCAL lock_timeout = '5s'
            """;

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

    PostgresRetentionDatabase(DataSource dataSource, String schema) {
        super(dataSource, AuditSql.postgres(schema));
        this.schema = schema;
    }

    @Override
    List<String> forbiddenFunctions() {
        return jdbc().queryForList(FORBIDDEN, Map.of("schema", schema), String.class);
    }

    @Override
    boolean runAlone(Runnable work) {
        return inTransaction(() -> {
            jdbc().getJdbcTemplate().execute(SETTINGS);
            boolean free = Boolean.TRUE.equals(jdbc().queryForObject(LOCK, Map.of("schema", schema), Boolean.class));
            if (free) {
                work.run();
            }
            return free;
        });
    }

    @Override
    List<YearMonth> monthsBefore(RetainedRows rows, YearMonth first) {
        String parent = rows.partitioned();
        if (parent == null) {
            return monthsWithRowsBefore(rows, first);
        }
        return jdbc().queryForList(PARTITIONS, Map.of("schema", schema, "parent", parent), String.class).stream()
                .map(name -> YEAR_AND_MONTH.matcher(name.substring(Math.min(parent.length(), name.length()))))
                .filter(Matcher::matches)
                .map(name -> YearMonth.of(Integer.parseInt(name.group(1)), Integer.parseInt(name.group(2))))
                .filter(month -> month.isBefore(first))
                .toList();
    }

    @Override
    void drop(RetainedRows rows, YearMonth month) {
        String parent = rows.partitioned();
        if (parent != null) {
            boolean unused = drop(parent, month, null);
        } else {
            String sql = DELETE.formatted(
                    table(rows.table()), rows.timeColumn(), moment(":from"), moment(":until"), rows.condition());
            int unused = jdbc().update(sql, bounds(month));
        }
    }

    /** The function counts the rows while none can be added. */
    @Override
    boolean dropArchived(YearMonth month, long found, AuditRows.Source archived) {
        return drop(RetainedRows.AUDIT.table(), month, found);
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
