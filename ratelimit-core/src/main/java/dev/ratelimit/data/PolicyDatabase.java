package dev.ratelimit.data;

import dev.ratelimit.Micros;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.jdbc.UnsupportedDatabaseException;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.data.jdbc.core.JdbcAggregateTemplate;
import org.springframework.data.jdbc.core.convert.DataAccessStrategy;
import org.springframework.data.jdbc.core.convert.DataAccessStrategyFactory;
import org.springframework.data.jdbc.core.convert.DefaultJdbcTypeFactory;
import org.springframework.data.jdbc.core.convert.JdbcConverter;
import org.springframework.data.jdbc.core.convert.JdbcCustomConversions;
import org.springframework.data.jdbc.core.convert.MappingJdbcConverter;
import org.springframework.data.jdbc.core.convert.QueryMappingConfiguration;
import org.springframework.data.jdbc.core.dialect.JdbcDialect;
import org.springframework.data.jdbc.core.dialect.JdbcPostgresDialect;
import org.springframework.data.jdbc.core.mapping.JdbcMappingContext;
import org.springframework.data.jdbc.repository.support.JdbcRepositoryFactory;
import org.springframework.data.relational.core.mapping.NamingStrategy;
import org.springframework.data.relational.core.sql.IdentifierProcessing;
import org.springframework.data.relational.core.sql.IdentifierProcessing.LetterCasing;
import org.springframework.data.relational.core.sql.IdentifierProcessing.Quoting;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The tables of limits, rules, quotas and API keys, with a Spring Data JDBC of their own: nothing of it is a bean, and
 * no transaction of the application is ever joined. The schema must be there: see {@code dev.ratelimit.schema}.
 */
public final class PolicyDatabase {

    private static final Duration CHANGES_ARE_KEPT = Duration.ofDays(1);
    private static final Duration WAIT_FOR_A_WRITER = Duration.ofSeconds(10);
    private static final Duration LONGEST_QUERY = Duration.ofSeconds(30);
    private static final int MOST_TRIES = 5;

    private final String where;
    private final DataSource dataSource;
    private final @Nullable String schema;
    private final String lock;

    /** Taken before a connection: threads that wait for each other hold none that the one that works could need. */
    private final Lock changing = new ReentrantLock();

    private final NamedParameterJdbcTemplate jdbc;
    private final TransactionTemplate transactions;
    private final JdbcAggregateTemplate rows;

    private final LimitVersions limits;
    private final RuleVersions rules;
    private final QuotaRows quotas;
    private final KeyRows keys;
    private final ChangeRows changes;
    private final PenaltyRows penalties;

    private PolicyDatabase(
            String where, DataSource dataSource, @Nullable String schema, JdbcDialect dialect, String lock) {
        this.where = where;
        // Transactions are bound to threads by their data source: with one of its own, it never meets another's.
        this.dataSource = new DelegatingDataSource(dataSource);
        this.schema = schema;
        this.lock = lock;
        this.jdbc = new NamedParameterJdbcTemplate(this.dataSource);
        this.transactions = new TransactionTemplate(new JdbcTransactionManager(this.dataSource));
        if (schema != null) {
            transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
            jdbc.getJdbcTemplate().setQueryTimeout((int) LONGEST_QUERY.toSeconds());
        }
        this.rows = rows(jdbc, dialect, schema);
        JdbcRepositoryFactory repositories = new JdbcRepositoryFactory(rows);
        // Theirs, and not that of the thread: the tools of developers load the application by another.
        repositories.setBeanClassLoader(PolicyDatabase.class.getClassLoader());
        this.limits = repositories.getRepository(LimitVersions.class);
        this.rules = repositories.getRepository(RuleVersions.class);
        this.quotas = repositories.getRepository(QuotaRows.class);
        this.keys = repositories.getRepository(KeyRows.class);
        this.changes = repositories.getRepository(ChangeRows.class);
        this.penalties = repositories.getRepository(PenaltyRows.class);
    }

    /** The tables in an SQLite file. */
    public static PolicyDatabase sqlite(SqliteFile file) {
        return new PolicyDatabase(
                "the SQLite file " + file.path(),
                file.busyTimeout(WAIT_FOR_A_WRITER).dataSource(),
                null,
                SqliteDialect.INSTANCE,
                // The first statement of the transaction, so that it waits for other writers and then reads their work.
                "UPDATE rate_limit_changes SET name = name WHERE revision = 0");
    }

    /**
     * The tables in a schema of a PostgreSQL database.
     *
     * @param dataSource {@link StoredPolicies} may hold one of its connections all the time, to listen for changes
     */
    public static PolicyDatabase postgres(DataSource dataSource, String schema) {
        String name = PostgresLimitStore.requireSchema(schema);
        DatabaseProduct product = DatabaseProduct.of(dataSource);
        if (product != DatabaseProduct.POSTGRESQL) {
            throw new UnsupportedDatabaseException(
                    "the data source leads to " + product + "; give the path of the file instead (SqliteFile.at)");
        }
        return new PolicyDatabase(
                "the PostgreSQL schema " + name,
                dataSource,
                name,
                new CaseKeepingPostgresDialect(),
                "UPDATE \"" + name + "\".rate_limit_revision SET revision = revision");
    }

    /** The usual one writes all names in lower case, also that of the schema. */
    private static final class CaseKeepingPostgresDialect extends JdbcPostgresDialect {

        @Override
        public IdentifierProcessing getIdentifierProcessing() {
            return IdentifierProcessing.create(new Quoting("\""), LetterCasing.AS_IS);
        }
    }

    private static JdbcAggregateTemplate rows(
            NamedParameterJdbcTemplate jdbc, JdbcDialect dialect, @Nullable String schema) {
        JdbcCustomConversions conversions = JdbcCustomConversions.of(dialect, List.of());
        JdbcMappingContext mapping = JdbcMappingContext.forQuotedIdentifiers(new NamingStrategy() {
            @Override
            public String getSchema() {
                return schema == null ? "" : schema;
            }
        });
        mapping.setSimpleTypeHolder(conversions.getSimpleTypeHolder());
        JdbcConverter converter = new MappingJdbcConverter(
                mapping,
                (identifier, path) -> List.of(), // no row has rows of its own in another table
                conversions,
                new DefaultJdbcTypeFactory(jdbc.getJdbcOperations(), dialect.getArraySupport()));
        DataAccessStrategy access =
                new DataAccessStrategyFactory(converter, jdbc, dialect, QueryMappingConfiguration.EMPTY).create();
        return new JdbcAggregateTemplate(converter, access);
    }

    /**
     * Runs while no other instance changes limits, rules, quotas or keys, in a transaction that sees all that others
     * have committed.
     */
    public <T> T change(InstantSource clock, Supplier<T> work) {
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

    /** Runs in a transaction; again if it failed for a reason that may have passed. */
    public void inTransaction(Runnable work) {
        Boolean unused = inTransaction(() -> {
            work.run();
            return true;
        });
    }

    /** Runs in a transaction; again if it failed for a reason that may have passed. */
    public <T> T inTransaction(Supplier<T> work) {
        for (int tries = 1; ; tries++) {
            try {
                return transactions.execute(status -> work.get());
            } catch (TransientDataAccessException e) {
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    public JdbcAggregateTemplate rows() {
        return rows;
    }

    public LimitVersions limits() {
        return limits;
    }

    public RuleVersions rules() {
        return rules;
    }

    public QuotaRows quotas() {
        return quotas;
    }

    public KeyRows keys() {
        return keys;
    }

    public ChangeRows changes() {
        return changes;
    }

    public PenaltyRows penalties() {
        return penalties;
    }

    public DataSource dataSource() {
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
