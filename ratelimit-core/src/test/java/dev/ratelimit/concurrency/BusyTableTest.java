package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.testing.TestSeed;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The effect of decisions on a table that is busy and grows.
 *
 * <p>PostgreSQL reuses the space of old row versions only if no transaction of the same database may still read them. So the
 * table has a database of its own, without autovacuum, and groups come one after another.
 */
@Timeout(60)
class BusyTableTest {

    private static final Logger log = LoggerFactory.getLogger(BusyTableTest.class);

    private static final int THREADS = 16;
    private static final int SUBJECTS = 2_000;
    private static final int DECISIONS = 12_000;
    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new TokenBucket(1_000_000, Rate.perSecond(100)))
            .build();

    private static final String SCHEMA = "ratelimit";
    private static final TestPostgres POSTGRES = TestPostgres.instance();

    /** The statistics of the database for the table. */
    private record Counted(long updates, long hotUpdates, long rowsReadInWholeScans) {}

    private static Counted counted;

    @BeforeAll
    static void decideALotFromAnEmptyTableOn() throws Exception {
        TestSeed seed = TestSeed.of("BusyTableTest");
        PGSimpleDataSource database = freshDatabase();
        Schema.migrate(database, SCHEMA);
        execute(database, "ALTER TABLE " + SCHEMA + ".rate_limits SET (autovacuum_enabled = false)");
        HikariConfig config = new HikariConfig();
        config.setDataSource(database);
        config.setMaximumPoolSize(4);
        try (HikariDataSource pool = new HikariDataSource(config);
                PostgresLimitStore store = new PostgresLimitStore(pool, SCHEMA);
                StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(LIMIT))
                        .grouping(Grouping.DEFAULT.withGroupsInFlight(1).withDeadline(Duration.ofSeconds(30)))
                        .build()) {
            Together.run(THREADS, number -> () -> {
                RandomGenerator random = seed.history(number);
                for (int i = 0; i < DECISIONS / THREADS; i++) {
                    Decision decision = limiter.decide(Subject.user("user" + random.nextInt(SUBJECTS)), LIMIT);
                    assertThat(decision.outcome()).isEqualTo(Outcome.ALLOWED);
                }
                return null;
            });
        }
        // Connections report what they have counted at the latest when they are closed.
        await().atMost(Duration.ofSeconds(20))
                .until(() -> numbers(
                                "SELECT count(*) FROM pg_stat_activity WHERE datname = '"
                                        + database.getDatabaseName() + "' AND backend_type = 'client backend'"
                                        + " AND pid <> pg_backend_pid()",
                                database)[0]
                        == 0);
        long[] numbers = numbers(
                "SELECT n_tup_upd, n_tup_hot_upd, seq_tup_read FROM pg_stat_user_tables WHERE relname = 'rate_limits'",
                database);
        counted = new Counted(numbers[0], numbers[1], numbers[2]);
        log.info("{}", counted);
        // A subject that is twice in a group is written once.
        assertThat(counted.updates()).isBetween(DECISIONS / 2L, (long) DECISIONS);
    }

    /** They leave the index alone: PostgreSQL calls such updates heap-only (HOT). */
    @Test
    void atLeast95PercentOfTheUpdatesAreHot() {
        assertThat((double) counted.hotUpdates() / counted.updates()).isGreaterThanOrEqualTo(0.95);
    }

    /** A plan is made when the table is still empty, and kept: it has to be right when the table has grown, too. */
    @Test
    void noDecisionReadsTheWholeTable() {
        assertThat(counted.rowsReadInWholeScans()).isZero();
    }

    private static PGSimpleDataSource freshDatabase() throws SQLException {
        String name = POSTGRES.freshSchema();
        execute(POSTGRES.dataSource(), "CREATE DATABASE " + name);
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(POSTGRES.jdbcUrl());
        database.setDatabaseName(name);
        return database;
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static long[] numbers(String query, DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            long[] numbers = new long[row.getMetaData().getColumnCount()];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = row.getLong(i + 1);
            }
            return numbers;
        }
    }
}
