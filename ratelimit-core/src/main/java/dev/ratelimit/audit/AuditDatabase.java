package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.sql.AuditSql;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.OncePerMinute;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The tables of the audit trail and of totals. Their schema must exist: see {@code dev.ratelimit.schema}. Failures are
 * Spring's {@code DataAccessException}. Safe for use by many threads.
 */
public abstract sealed class AuditDatabase permits PostgresAuditDatabase, SqliteAuditDatabase {

    static final String ENTRIES = "rate_limit_audit_logs";
    static final String TOTALS = "rate_limit_metrics";

    private static final Duration LONGEST_QUERY = Duration.ofSeconds(30);
    private static final Duration WAIT_FOR_A_WRITER = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(AuditDatabase.class);

    private static final OncePerMinute refusals = new OncePerMinute();

    private final AuditSql sql;
    private final NamedParameterJdbcTemplate jdbc;
    private final NamedParameterJdbcTemplate reads;
    private final TransactionTemplate transactions;

    AuditDatabase(DataSource writes, DataSource reads, AuditSql sql) {
        this.sql = sql;
        // Transactions are bound to threads by their data source: ours never meet those of the application.
        DataSource own = new DelegatingDataSource(writes);
        this.jdbc = jdbcOf(own);
        this.reads = jdbcOf(new DelegatingDataSource(reads));
        this.transactions = new TransactionTemplate(new JdbcTransactionManager(own));
    }

    private static NamedParameterJdbcTemplate jdbcOf(DataSource dataSource) {
        NamedParameterJdbcTemplate jdbc = new NamedParameterJdbcTemplate(dataSource);
        jdbc.getJdbcTemplate().setQueryTimeout((int) LONGEST_QUERY.toSeconds());
        return jdbc;
    }

    /** The tables in an SQLite file of their own. */
    public static AuditDatabase sqlite(SqliteFile file) {
        return new SqliteAuditDatabase(file.busyTimeout(WAIT_FOR_A_WRITER).dataSource());
    }

    /**
     * The tables in a schema of a PostgreSQL database, which may be unavailable for now.
     *
     * @param dataSource at most two connections are used at a time: one to write, one to read
     */
    public static AuditDatabase postgres(DataSource dataSource, String schema) {
        return postgres(dataSource, dataSource, schema);
    }

    /**
     * The same with connections of their own for writes, so that slow reports never keep them waiting.
     *
     * @param writes one connection is used at a time
     * @param reads for reports
     */
    public static AuditDatabase postgres(DataSource writes, DataSource reads, String schema) {
        return new PostgresAuditDatabase(writes, reads, PostgresLimitStore.requireSchema(schema));
    }

    final NamedParameterJdbcTemplate jdbc() {
        return jdbc;
    }

    /** For reports: a slow one must not keep writes waiting. */
    final NamedParameterJdbcTemplate reads() {
        return reads;
    }

    /** Adds rows of the audit trail. Rows that are there already are not added again. */
    abstract void add(List<AuditEntry> entries);

    /** Adds rows of totals, or replaces those with the same key. */
    abstract void setTotals(List<TotalsRow> rows);

    /**
     * Writes rows together. If the database refuses a value of one of them, the rest is written without it: otherwise one row
     * would stop all that come after it.
     *
     * @return the refused rows
     */
    static <R> List<R> writeAccepted(List<R> rows, Consumer<List<R>> write) {
        try {
            write.accept(rows);
            return List.of();
        } catch (DataIntegrityViolationException e) {
            if (rows.size() <= 1) {
                if (refusals.mayTell("refused")) {
                    log.warn(
                            "Dropping a row of the audit trail or of totals that the database refuses: {}",
                            LogText.of(e.getMostSpecificCause().getMessage()));
                }
                return rows;
            }
            int half = rows.size() / 2;
            List<R> refused = new ArrayList<>(writeAccepted(rows.subList(0, half), write));
            refused.addAll(writeAccepted(rows.subList(half, rows.size()), write));
            return refused;
        }
    }

    /** Makes sure that rows of that month can be added. */
    abstract void prepare(YearMonth month);

    final String table(String name) {
        return sql.table(name);
    }

    final String moment(String parameter) {
        return sql.moment(parameter);
    }

    final String endsWith(String column, String ending) {
        return sql.endsWith(column, ending);
    }

    final String matchesOneOf(String column, List<String> patterns) {
        return sql.matchesOneOf(column, patterns);
    }

    final String micros(String column) {
        return sql.micros(column);
    }

    /**
     * Runs in a transaction, unless another instance is doing the same.
     *
     * @return whether it ran
     */
    abstract boolean runAlone(String what, Runnable work);

    final TransactionTemplate transactions() {
        return transactions;
    }

    final <T> T inTransaction(Supplier<T> work) {
        return transactions.execute(status -> work.get());
    }
}
