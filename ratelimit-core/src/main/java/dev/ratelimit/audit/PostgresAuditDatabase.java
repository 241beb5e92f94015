package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.sql.AuditSql;
import dev.ratelimit.audit.sql.PlainLock;
import dev.ratelimit.store.postgresql.PlainTables;
import dev.ratelimit.support.Micros;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.ConnectionCallback;

/**
 * The tables in a schema of a PostgreSQL database, with a partition for each month unless they are plain. One statement writes
 * many rows.
 */
final class PostgresAuditDatabase extends AuditDatabase {

    private static final String ADD_MISSING = """
            INSERT INTO %s (logged_at, log_id, user_id, api_key_id, ip_address, endpoint, http_method,
                response_status, decision, requests, rule_name, rule_version, resource, subject, current_count, limit_value,
                retry_after_seconds, decided_locally, latency_micros, server_id, region)
            SELECT timestamptz 'epoch' + logged_micros * interval '1 microsecond', log_id, user_id, api_key_id, ip_address,
                endpoint, http_method, response_status, decision, requests, rule_name, rule_version, resource, subject,
                current_count, limit_value, retry_after_seconds, decided_locally, latency_micros, server_id, region
            FROM unnest(?::bigint[], ?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::integer[], ?::text[],
                ?::bigint[], ?::text[], ?::integer[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[],
                ?::boolean[], ?::bigint[], ?::text[], ?::text[])
                AS entry (logged_micros, log_id, user_id, api_key_id, ip_address, endpoint, http_method, response_status,
                    decision, requests, rule_name, rule_version, resource, subject, current_count, limit_value,
                    retry_after_seconds, decided_locally, latency_micros, server_id, region)
            ON CONFLICT DO NOTHING
            """;

    private static final String COPY = """
            COPY %s (logged_at, log_id, user_id, api_key_id, ip_address, endpoint, http_method,
                response_status, decision, requests, rule_name, rule_version, resource, subject, current_count, limit_value,
                retry_after_seconds, decided_locally, latency_micros, server_id, region)
            FROM STDIN (FORMAT binary)
            """;

    private static final String SET_TOTALS = """
            INSERT INTO %s (period_start, granularity, resource, user_id, endpoint, region, instance, total, allowed,
                throttled, blocked, exempt, failed, cache_hits, cache_misses, last_request_at, latency)
            SELECT timestamptz 'epoch' + period_micros * interval '1 microsecond', granularity, resource, user_id, endpoint,
                region, instance, total, allowed, throttled, blocked, exempt, failed, cache_hits, cache_misses,
                timestamptz 'epoch' + last_micros * interval '1 microsecond', latency
            FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[],
                ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
                ?::bytea[])
                AS totals (period_micros, granularity, resource, user_id, endpoint, region, instance, total, allowed,
                    throttled, blocked, exempt, failed, cache_hits, cache_misses, last_micros, latency)
            ON CONFLICT (period_start, granularity, resource, user_id, endpoint, region, instance) DO UPDATE SET
                total = excluded.total, allowed = excluded.allowed, throttled = excluded.throttled,
                blocked = excluded.blocked, exempt = excluded.exempt, failed = excluded.failed,
                cache_hits = excluded.cache_hits, cache_misses = excluded.cache_misses,
                last_request_at = excluded.last_request_at, latency = excluded.latency
            """;

    private static final int ROWS_AT_ONCE = 1_000;

    private static final List<String> ENTRY_TYPES = List.of(
            "bigint", "uuid", "text", "text", "text", "text", "text", "integer", "text", "bigint", "text", "integer",
            "text", "text", "bigint", "bigint", "bigint", "boolean", "bigint", "text", "text");

    /** The same, but for the moment, which only an {@code INSERT} computes from microseconds. */
    private static final List<String> COPIED_TYPES = Stream.concat(
                    Stream.of("timestamptz"), ENTRY_TYPES.stream().skip(1))
            .toList();

    private static final List<String> TOTALS_TYPES = List.of(
            "bigint", "text", "text", "text", "text", "text", "text", "bigint", "bigint", "bigint", "bigint", "bigint",
            "bigint", "bigint", "bigint", "bigint", "bytea");

    private final String schema;
    private final String copy;
    private final String addMissing;
    private final String setTotals;

    /** Plain tables have no partitions. */
    private final PlainTables plain;

    PostgresAuditDatabase(DataSource writes, DataSource reads, String schema) {
        super(writes, reads, AuditSql.postgres(schema));
        this.schema = schema;
        this.plain = new PlainTables(schema);
        this.copy = COPY.formatted(table(ENTRIES));
        this.addMissing = ADD_MISSING.formatted(table(ENTRIES));
        this.setTotals = SET_TOTALS.formatted(table(TOTALS));
        // Within a transaction, rows come in parts: a long answer does not fill memory.
        jdbc().getJdbcTemplate().setFetchSize(ROWS_AT_ONCE);
    }

    @Override
    void add(List<AuditEntry> entries) {
        List<@Nullable Object[]> rows = entries.stream().map(ColumnValues::of).toList();
        write(
                () -> copyOrAddMissing(rows),
                () -> insert(addMissing, ENTRY_TYPES, rows),
                entries.stream().map(entry -> month(entry.at())));
    }

    @Override
    void setTotals(List<TotalsRow> totals) {
        List<@Nullable Object[]> rows = totals.stream().map(ColumnValues::of).toList();
        write(
                () -> insert(setTotals, TOTALS_TYPES, rows),
                () -> insert(setTotals, TOTALS_TYPES, rows),
                totals.stream().map(row -> month(Micros.toInstant(row.periodMicros()))));
    }

    /**
     * The first try fails as a whole in two cases. Rows were copied before, but the answer was lost. Or a partition is missing: they
     * are made ahead, so only after the clock has leaped, or after nothing ran for months.
     */
    private void write(Runnable first, Runnable again, Stream<YearMonth> months) {
        try {
            first.run();
        } catch (DataIntegrityViolationException e) {
            months.distinct().forEach(this::prepare);
            again.run();
        }
    }

    /** A copy takes a fifth less of the database's time. Other databases, which have plain tables, may read it differently. */
    private void copyOrAddMissing(List<@Nullable Object[]> rows) {
        if (isPlain() || !copied(rows)) {
            insert(addMissing, ENTRY_TYPES, rows);
        }
    }

    /** Returns {@code false} if the connections do not lead to the driver. */
    private boolean copied(List<@Nullable Object[]> rows) {
        return inTransaction(() ->
                Boolean.TRUE.equals(jdbc().getJdbcTemplate().execute((ConnectionCallback<Boolean>) connection -> {
                    if (!CopiedRows.canBeSentOver(connection)) {
                        return false;
                    }
                    try (Statement statement = connection.createStatement()) {
                        // The driver has no timeout for a copy.
                        statement.execute("SET LOCAL statement_timeout = '"
                                + jdbc().getJdbcTemplate().getQueryTimeout() + "s'");
                    }
                    new CopiedRows(COPIED_TYPES, rows).send(connection, copy);
                    return true;
                })));
    }

    private void insert(String sql, List<String> types, List<@Nullable Object[]> rows) {
        Integer unused = jdbc().getJdbcTemplate().execute((ConnectionCallback<Integer>) connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setQueryTimeout(jdbc().getJdbcTemplate().getQueryTimeout());
                for (int column = 0; column < types.size(); column++) {
                    statement.setArray(column + 1, array(connection, types.get(column), rows, column));
                }
                return statement.executeUpdate();
            }
        });
    }

    private static Array array(Connection connection, String type, List<@Nullable Object[]> rows, int column)
            throws SQLException {
        @Nullable Object[] values = newArray(type, rows.size());
        for (int i = 0; i < values.length; i++) {
            values[i] = rows.get(i)[column];
        }
        return connection.createArrayOf(type, values);
    }

    /** The driver sends arrays of these classes in binary form, which takes less time on both sides. */
    private static @Nullable Object[] newArray(String type, int length) {
        return switch (type) {
            case "bigint" -> new @Nullable Long[length];
            case "integer" -> new @Nullable Integer[length];
            case "boolean" -> new @Nullable Boolean[length];
            case "text" -> new @Nullable String[length];
            case "bytea" -> new byte @Nullable [length][];
            default -> new @Nullable Object[length];
        };
    }

    private static YearMonth month(Instant moment) {
        return YearMonth.from(moment.atZone(ZoneOffset.UTC));
    }

    private boolean isPlain() {
        return plain.isUsed(sql -> jdbc().getJdbcTemplate().queryForObject(sql, Boolean.class));
    }

    @Override
    void prepare(YearMonth month) {
        if (isPlain()) {
            return;
        }
        jdbc().query(
                        "SELECT " + table("rate_limit_make_partitions") + "(CAST(:day AS date))",
                        Map.of("day", month.atDay(1).toString()),
                        row -> {});
    }

    @Override
    boolean runAlone(String what, Runnable work) {
        if (isPlain()) {
            return PlainLock.runAlone(
                    transactions(), jdbc(), table("rate_limit_locks"), what, "SET LOCAL lock_timeout = 0", work);
        }
        return inTransaction(() -> {
            boolean free = Boolean.TRUE.equals(jdbc().queryForObject(
                            "SELECT pg_try_advisory_xact_lock(hashtext(:what), hashtext(:schema))",
                            Map.of("what", "dev.ratelimit." + what, "schema", schema),
                            Boolean.class));
            if (free) {
                work.run();
            }
            return free;
        });
    }
}
