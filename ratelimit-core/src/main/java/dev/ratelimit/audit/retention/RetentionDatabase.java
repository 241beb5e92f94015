package dev.ratelimit.audit.retention;

import dev.ratelimit.audit.sql.AuditSql;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The months of the audit trail and of totals. Their schema must exist: see {@code dev.ratelimit.schema}. Failures are Spring's
 * {@code DataAccessException}. Uses one connection at a time.
 */
public abstract sealed class RetentionDatabase permits PostgresRetentionDatabase, SqliteRetentionDatabase {

    private static final String COUNT = """
            SELECT count(*) FROM %s WHERE %s >= %s AND %2$s < %s%s
            """;

    private final AuditSql dialect;
    private final NamedParameterJdbcTemplate jdbc;
    private final JdbcTransactionManager manager;
    private final TransactionTemplate transactions;

    RetentionDatabase(DataSource dataSource, AuditSql dialect) {
        this.dialect = dialect;
        // Transactions are bound to threads by their data source: ours never meet those of the application.
        DataSource own = new DelegatingDataSource(dataSource);
        this.jdbc = new NamedParameterJdbcTemplate(own);
        this.manager = new JdbcTransactionManager(own);
        this.transactions = new TransactionTemplate(manager);
    }

    /** The tables in an SQLite file of their own. */
    public static RetentionDatabase sqlite(SqliteFile file) {
        return new SqliteRetentionDatabase(file);
    }

    /** The tables in a schema of a PostgreSQL database, which may be unavailable for now. */
    public static RetentionDatabase postgres(DataSource dataSource, String schema) {
        return new PostgresRetentionDatabase(dataSource, PostgresLimitStore.requireSchema(schema));
    }

    final NamedParameterJdbcTemplate jdbc() {
        return jdbc;
    }

    final TransactionTemplate transactions() {
        return transactions;
    }

    final <T> T inTransaction(Supplier<T> work) {
        return transactions.execute(status -> work.get());
    }

    /**
     * Reads in one transaction.
     *
     * @param most the time that all statements may take together; whole seconds
     * @throws QueryTimeoutException if they take longer
     */
    final <T> T read(Duration most, Supplier<T> reading) {
        TransactionTemplate bounded = new TransactionTemplate(manager);
        bounded.setTimeout((int) most.toSeconds());
        try {
            return bounded.execute(status -> reading.get());
        } catch (TransactionTimedOutException e) {
            throw new QueryTimeoutException(e.getMessage(), e);
        }
    }

    /**
     * Runs unless another instance does. The others are kept out until it has ended.
     *
     * @return whether it ran
     */
    abstract boolean runAlone(Runnable work);

    /** The clock of the database; {@code null} if it has none of its own. */
    @Nullable
    Instant clock() {
        return null;
    }

    /** The time of the newest row before a moment; {@code null} if there is none. */
    final @Nullable Instant newestBefore(Instant moment) {
        Instant newest = null;
        for (RetainedRows rows : List.of(RetainedRows.AUDIT, RetainedRows.MINUTES)) {
            Long micros = jdbc.queryForObject(
                    "SELECT " + micros("max(" + rows.timeColumn() + ")") + " FROM " + table(rows.table()) + " WHERE "
                            + rows.timeColumn() + " < " + moment(":moment"),
                    Map.of("moment", Micros.of(moment)),
                    Long.class);
            Instant found = micros == null ? null : Micros.toInstant(micros);
            newest = found != null && (newest == null || found.isAfter(newest)) ? found : newest;
        }
        return newest;
    }

    /** The functions that make and drop months, and that the user of the connections may not call. */
    List<String> forbiddenFunctions() {
        return List.of();
    }

    /** The months before that one which can be dropped, the oldest first. */
    abstract List<YearMonth> monthsBefore(RetainedRows rows, YearMonth first);

    /** Drops a month. To be called while it {@linkplain #runAlone runs alone}. */
    abstract void drop(RetainedRows rows, YearMonth month);

    /**
     * Drops the audit rows of a month that an archive holds. To be called while it {@linkplain #runAlone runs alone}.
     *
     * @param found how many rows of the month were found in the archive
     * @return whether the month is gone. If not, it has rows that the archive does not hold, and none of those is dropped
     */
    abstract boolean dropArchived(YearMonth month, long found, AuditRows.Source archived);

    /** Passes on the keys of archived rows, each the moment in microseconds and the id, so many at a time. */
    static void inBatches(AuditRows.Source archived, int most, Consumer<List<Object[]>> work) {
        try (AuditRows rows = archived.open()) {
            List<Object[]> keys = new ArrayList<>();
            while (rows.hasNext()) {
                AuditRow row = rows.next();
                keys.add(new Object[] {Micros.of(row.loggedAt()), row.logId().toString()});
                if (keys.size() == most || !rows.hasNext()) {
                    work.accept(keys);
                    keys.clear();
                }
            }
        }
    }

    final String table(String name) {
        return dialect.table(name);
    }

    final String moment(String parameter) {
        return dialect.moment(parameter);
    }

    final String micros(String column) {
        return dialect.micros(column);
    }

    final String id(String parameter) {
        return dialect.id(parameter);
    }

    final String month(String column) {
        return dialect.month(column);
    }

    final long count(RetainedRows rows, YearMonth month) {
        String sql = COUNT.formatted(
                table(rows.table()), rows.timeColumn(), moment(":from"), moment(":until"), rows.condition());
        Long count = jdbc.queryForObject(sql, bounds(month), Long.class);
        return count == null ? 0 : count;
    }

    /** The months with rows, where there are no partitions. */
    final List<YearMonth> monthsWithRowsBefore(RetainedRows rows, YearMonth first) {
        return jdbc
                .queryForList(
                        "SELECT DISTINCT " + month(rows.timeColumn()) + " AS month FROM " + table(rows.table())
                                + " WHERE " + rows.timeColumn() + " < " + moment(":until") + rows.condition()
                                + " ORDER BY 1",
                        Map.of("until", startMicros(first)),
                        String.class)
                .stream()
                .map(YearMonth::parse)
                .toList();
    }

    /** The audit rows of a month, read in pages: no statement runs for long, and memory is bounded. */
    final AuditRows.Source auditRows(YearMonth month) {
        return () -> new PagedRows(this, month);
    }

    static Map<String, Object> bounds(YearMonth month) {
        return Map.of("from", startMicros(month), "until", startMicros(month.plusMonths(1)));
    }

    static long startMicros(YearMonth month) {
        return Micros.of(month.atDay(1).atStartOfDay().toInstant(ZoneOffset.UTC));
    }

    /** A row with its time as {@code logged_micros}. */
    static AuditRow auditRow(ResultSet row) throws SQLException {
        return new AuditRow(
                Micros.toInstant(row.getLong("logged_micros")),
                UUID.fromString(row.getString("log_id")),
                row.getString("user_id"),
                row.getString("api_key_id"),
                row.getString("ip_address"),
                row.getString("endpoint"),
                row.getString("http_method"),
                wholeNumber(row, "response_status"),
                row.getString("decision"),
                row.getLong("requests"),
                row.getString("rule_name"),
                wholeNumber(row, "rule_version"),
                row.getString("resource"),
                row.getString("subject"),
                longNumber(row, "current_count"),
                longNumber(row, "limit_value"),
                longNumber(row, "retry_after_seconds"),
                row.getBoolean("decided_locally"),
                row.getLong("latency_micros"),
                row.getString("server_id"),
                row.getString("region"));
    }

    private static @Nullable Integer wholeNumber(ResultSet row, String column) throws SQLException {
        int number = row.getInt(column);
        return row.wasNull() ? null : number;
    }

    private static @Nullable Long longNumber(ResultSet row, String column) throws SQLException {
        long number = row.getLong(column);
        return row.wasNull() ? null : number;
    }
}
