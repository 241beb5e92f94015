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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The effect of decisions on a table that is busy and grows. */
@Timeout(60)
class BusyTableTest {

    private static final Logger log = LoggerFactory.getLogger(BusyTableTest.class);

    private static final int THREADS = 16;
    private static final int SUBJECTS = 2_000;
    private static final int DECISIONS = 12_000;
    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new TokenBucket(1_000_000, Rate.perSecond(100)))
            .build();

    private static final TestPostgres POSTGRES = TestPostgres.instance();

    /** The statistics of the database for the table. */
    private record Counted(long updates, long hotUpdates, long rowsReadInWholeScans) {}

    private static Counted counted;

    @BeforeAll
    static void decideALotFromAnEmptyTableOn() throws Exception {
        TestSeed seed = TestSeed.of("BusyTableTest");
        String schema = POSTGRES.freshSchema();
        Schema.migrate(POSTGRES.dataSource(), schema);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(POSTGRES.jdbcUrl());
        config.addDataSourceProperty("ApplicationName", schema);
        config.setMaximumPoolSize(4);
        try (HikariDataSource pool = new HikariDataSource(config);
                PostgresLimitStore store = new PostgresLimitStore(pool, schema);
                StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(LIMIT))
                        .grouping(Grouping.DEFAULT.withGroupsInFlight(2).withDeadline(Duration.ofSeconds(30)))
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
                .until(() ->
                        numbers("SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + schema + "'")[0]
                                == 0);
        long[] numbers = numbers("SELECT n_tup_upd, n_tup_hot_upd, seq_tup_read FROM pg_stat_user_tables"
                + " WHERE relname = 'rate_limits' AND schemaname = '" + schema + "'");
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

    private static long[] numbers(String query) throws SQLException {
        try (Connection connection = POSTGRES.dataSource().getConnection();
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
