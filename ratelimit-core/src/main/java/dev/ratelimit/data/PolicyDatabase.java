package dev.ratelimit.data;

import dev.ratelimit.data.table.ApiKeyRow;
import dev.ratelimit.data.table.ChangeLogRows;
import dev.ratelimit.data.table.ChangeRow;
import dev.ratelimit.data.table.LimitRow;
import dev.ratelimit.data.table.PenaltyRow;
import dev.ratelimit.data.table.QuotaRow;
import dev.ratelimit.data.table.RuleRow;
import dev.ratelimit.data.table.StateRows;
import dev.ratelimit.data.table.Table;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.postgresql.PlainTables;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.support.Micros;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The tables of limits, rules, quotas, API keys and penalties. It never joins a transaction of the application. The schema
 * must exist: see {@code dev.ratelimit.schema}.
 */
public final class PolicyDatabase {

    private static final Duration CHANGES_ARE_KEPT = Duration.ofDays(1);
    private static final Duration WAIT_FOR_A_WRITER = Duration.ofSeconds(10);
    private static final Duration LONGEST_QUERY = Duration.ofSeconds(30);
    private static final int MOST_RETRIES = 4;

    /** For this transaction alone: a setting of the session would stay with a connection that a pooler gives to others. */
    private static final String READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

    private final String where;
    private final DataSource dataSource;
    private final @Nullable String schema;
    private final String lock;
    private final @Nullable SqliteFile file;

    /** Taken before a connection, so that waiting threads hold no connection that the working one may need. */
    private final Lock changing = new ReentrantLock();

    private final NamedParameterJdbcTemplate jdbc;
    private final TransactionTemplate transactions;

    /**
     * Not the retries of {@code PostgresConnections}: transactions here are Spring's, on SQLite too, and a pooler may fail them
     * with other errors that Spring knows to be transient.
     */
    private final RetryTemplate retries = new RetryTemplate(RetryPolicy.builder()
            .includes(TransientDataAccessException.class)
            .maxRetries(MOST_RETRIES)
            .delay(Duration.ZERO)
            .build());

    private final LimitRow.Rows limits;
    private final RuleRow.Rows rules;
    private final QuotaRow.Rows quotas;
    private final ApiKeyRow.Rows keys;
    private final ChangeRow.Rows changes;
    private final PenaltyRow.Rows penalties;
    private final StateRows states;
    private final ChangeLogRows log;

    /** Plain tables have no triggers; {@code null} on SQLite. */
    private final @Nullable PlainTables plain;

    private PolicyDatabase(
            String where, DataSource dataSource, @Nullable String schema, String lock, @Nullable SqliteFile file) {
        this.where = where;
        this.file = file;
        // Transactions are bound to threads by their data source: ours never meet those of the application.
        this.dataSource = new DelegatingDataSource(dataSource);
        this.schema = schema;
        this.plain = schema == null ? null : new PlainTables(schema);
        this.lock = lock;
        this.jdbc = new NamedParameterJdbcTemplate(this.dataSource);
        this.transactions = new TransactionTemplate(new JdbcTransactionManager(this.dataSource));
        if (schema != null) {
            jdbc.getJdbcTemplate().setQueryTimeout((int) LONGEST_QUERY.toSeconds());
        }
        this.limits = new LimitRow.Rows(new Table(jdbc, schema, "rate_limit_configs"));
        this.rules = new RuleRow.Rows(new Table(jdbc, schema, "rate_limit_rules"));
        this.quotas = new QuotaRow.Rows(new Table(jdbc, schema, "user_quotas"));
        this.keys = new ApiKeyRow.Rows(new Table(jdbc, schema, "api_keys"));
        this.changes = new ChangeRow.Rows(new Table(jdbc, schema, "rate_limit_changes"));
        this.penalties = new PenaltyRow.Rows(new Table(jdbc, schema, "rate_limit_penalties"));
        this.log = new ChangeLogRows(new Table(jdbc, schema, "rate_limit_admin_logs"));
        this.states =
                new StateRows(new Table(jdbc, schema, "rate_limits"), new Table(jdbc, schema, "rate_limit_penalties"));
    }

    /** The tables in an SQLite file. */
    public static PolicyDatabase sqlite(SqliteFile file) {
        return new PolicyDatabase(
                "the SQLite file " + file.path(),
                file.busyTimeout(WAIT_FOR_A_WRITER).dataSource(),
                null,
                // The first statement of the transaction: it waits for other writers, and the next ones read their
                // work.
                "UPDATE rate_limit_changes SET name = name WHERE revision = 0",
                file);
    }

    /**
     * The tables in a schema of a PostgreSQL database.
     *
     * @param dataSource {@link StoredPolicies} may hold one of its connections all the time, to listen for changes
     */
    public static PolicyDatabase postgres(DataSource dataSource, String schema) {
        DatabaseProduct.requirePostgres(dataSource, "policies");
        return postgresLater(dataSource, schema);
    }

    /** The same without a look at the database, which may be unavailable: see {@link StoredPolicies#readLater}. */
    public static PolicyDatabase postgresLater(DataSource dataSource, String schema) {
        String name = PostgresLimitStore.requireSchema(schema);
        return new PolicyDatabase(
                "the PostgreSQL schema " + name,
                dataSource,
                name,
                "UPDATE \"" + name + "\".rate_limit_revision SET revision = revision",
                null);
    }

    /** Changes when the file is replaced by another one; always {@code null} on a server. */
    @Nullable
    Object identity() {
        try {
            return file == null ? null : file.identity();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Runs in a transaction that sees everything committed before, while no other instance changes limits, rules, quotas
     * or API keys.
     */
    <T> T change(InstantSource clock, Supplier<T> work) {
        changing.lock();
        try {
            return inTransaction(() -> {
                jdbc.getJdbcOperations().update(lock);
                T result = work.get();
                changes.deleteOlderThan(Micros.of(clock.instant().minus(CHANGES_ARE_KEPT)));
                return result;
            });
        } finally {
            changing.unlock();
        }
    }

    /** Whether the tables have no triggers, which fill the change feed. */
    boolean isPlain() {
        return plain != null && plain.isUsed(sql -> jdbc.getJdbcOperations().queryForObject(sql, Boolean.class));
    }

    /** Adds an entry to the change feed, unless a trigger has done so. */
    void changed(String kind, String name) {
        if (isPlain()) {
            announce(kind, name);
        }
    }

    /** Adds an entry to the change feed, within {@link #change}. */
    void announce(String kind, String name) {
        if (!isPlain()) {
            changes.add(kind, name);
            return;
        }
        jdbc.getJdbcOperations().update("UPDATE \"" + schema + "\".rate_limit_revision SET revision = revision + 1");
        Long revision = jdbc.getJdbcOperations()
                .queryForObject("SELECT revision FROM \"" + schema + "\".rate_limit_revision", Long.class);
        changes.add(Objects.requireNonNull(revision), kind, name);
    }

    /** Runs in a transaction, and again after a transient failure. */
    void inTransaction(Runnable work) {
        Boolean unused = inTransaction(() -> {
            work.run();
            return true;
        });
    }

    /** Runs in a transaction, and again after a transient failure. */
    <T> T inTransaction(Supplier<T> work) {
        return retries.invoke(() -> transactions.execute(status -> {
            if (schema != null && status.isNewTransaction()) {
                jdbc.getJdbcOperations().execute(READ_COMMITTED);
            }
            return work.get();
        }));
    }

    LimitRow.Rows limits() {
        return limits;
    }

    RuleRow.Rows rules() {
        return rules;
    }

    QuotaRow.Rows quotas() {
        return quotas;
    }

    ApiKeyRow.Rows keys() {
        return keys;
    }

    ChangeRow.Rows changes() {
        return changes;
    }

    PenaltyRow.Rows penalties() {
        return penalties;
    }

    StateRows states() {
        return states;
    }

    ChangeLogRows log() {
        return log;
    }

    DataSource dataSource() {
        return dataSource;
    }

    /** The schema in PostgreSQL; {@code null} if this is an SQLite file. */
    @Nullable
    String schema() {
        return schema;
    }

    @Override
    public String toString() {
        return where;
    }
}
