package dev.ratelimit.audit;

import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.time.Duration;
import java.time.YearMonth;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
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

    private final AuditSql sql;
    private final NamedParameterJdbcTemplate jdbc;
    private final TransactionTemplate transactions;

    AuditDatabase(DataSource dataSource, AuditSql sql) {
        this.sql = sql;
        // Transactions are bound to threads by their data source: ours never meet those of the application.
        DataSource own = new DelegatingDataSource(dataSource);
        this.jdbc = new NamedParameterJdbcTemplate(own);
        this.transactions = new TransactionTemplate(new JdbcTransactionManager(own));
        jdbc.getJdbcTemplate().setQueryTimeout((int) LONGEST_QUERY.toSeconds());
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
        return new PostgresAuditDatabase(dataSource, PostgresLimitStore.requireSchema(schema));
    }

    final NamedParameterJdbcTemplate jdbc() {
        return jdbc;
    }

    /** Adds rows of the audit trail. Rows that are there already are not added again. */
    abstract void add(List<AuditEntry> entries);

    /** Adds rows of totals, or replaces those with the same key. */
    abstract void setTotals(List<TotalsRow> rows);

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
