package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.postgres.TestPostgres;
import dev.ratelimit.upkeep.Upkeep;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Timeout(90)
class UpkeepConcurrentlyTest {

    private static final Logger log = LoggerFactory.getLogger(UpkeepConcurrentlyTest.class);

    private static final int DECIDING = 6;
    private static final int KEEPING = 3;
    private static final int LIVE = 20;
    private static final Duration TIME = Duration.ofSeconds(2);
    private static final Duration GENEROUS = Duration.ofSeconds(20);

    private static final Limit ENDLESS = Limit.named("endless")
            .algorithm(new FixedWindow(1_000_000_000, Duration.ofDays(3650)))
            .build();

    /** Whole again two milliseconds later, and the violation forgotten. */
    private static final Limit FLEETING = Limit.named("fleeting")
            .algorithm(new TokenBucket(1, Rate.of(1, Duration.ofMillis(2))))
            .penalty(1, Duration.ofMillis(1))
            .forgetAfter(Duration.ofMillis(2))
            .build();

    @Test
    void instancesThatDoUpkeepAtOnceLoseNothingLiveOnSqlite(@TempDir Path folder) throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db")).busyTimeout(Duration.ofSeconds(30));
        Schema.migrate(file);

        decideAndPrune(() -> new SqliteLimitStore(file), file.dataSource(), "main");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void instancesThatDoUpkeepAtOnceLoseNothingLiveOnPostgres(boolean swaps) throws Exception {
        TestPostgres postgres = TestPostgres.instance();
        String schema = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), schema);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.setMaximumPoolSize(DECIDING + KEEPING);

        try (HikariDataSource pool = new HikariDataSource(config)) {
            decideAndPrune(
                    () -> swaps
                            ? new PostgresSwapStore(pool, schema).withDeadline(Duration.ofSeconds(30))
                            : new PostgresLimitStore(pool, schema),
                    pool,
                    schema);
        }
    }

    /** Some decide on subjects that stay and on subjects that come and go, while others keep house. */
    private static void decideAndPrune(Supplier<LimitStore> instance, DataSource dataSource, String schema)
            throws Exception {
        Map<String, AtomicLong> admitted = new ConcurrentHashMap<>();
        for (int i = 0; i < LIVE; i++) {
            admitted.put("user:live" + i, new AtomicLong());
        }
        AtomicLong decided = new AtomicLong();
        AtomicLong deleted = new AtomicLong();
        long end = System.nanoTime() + TIME.toNanos();

        Together.run(DECIDING + KEEPING, number -> () -> {
            try (LimitStore store = instance.get()) {
                if (number >= DECIDING) {
                    try (Upkeep upkeep = new Upkeep(store, Duration.ZERO)) {
                        while (System.nanoTime() < end) {
                            Upkeep.Report report = upkeep.run();
                            deleted.addAndGet(report.states());
                            Thread.sleep(1); // bounds the load
                        }
                    }
                    return null;
                }
                try (StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of())
                        .grouping(Grouping.DEFAULT.withDeadline(Duration.ofSeconds(30)))
                        .build()) {
                    for (int i = 0; System.nanoTime() < end; i++) {
                        Subject live = Subject.user("live" + i % LIVE);
                        Decision decision = limiter.decide(live, ENDLESS);
                        assertThat(decision.outcome()).isEqualTo(Outcome.ALLOWED);
                        admitted.get(live.text()).incrementAndGet();
                        // Shared by all, so that a row is wanted while it is pruned.
                        Decision fleeting = limiter.decide(Subject.user("fleeting" + i % 7), FLEETING);
                        assertThat(fleeting.outcome().isDecided())
                                .as(String.valueOf(fleeting.failure()))
                                .isTrue();
                        decided.addAndGet(2);
                    }
                }
                return null;
            }
        });

        log.info("{} decisions, {} rows deleted", decided, deleted);
        assertThat(deleted).hasValueGreaterThan(10);
        admitted.forEach((subject, count) -> {
            try {
                assertThat(number(
                                dataSource,
                                "SELECT coalesce(sum(request_count), 0) FROM " + schema
                                        + ".rate_limits WHERE resource = 'endless' AND user_id = '" + subject + "'"))
                        .as("counted for " + subject)
                        .isEqualTo(count.get());
            } catch (SQLException e) {
                throw new AssertionError(e);
            }
        });
        // The fleeting rows that are left go with the next run of any instance.
        try (LimitStore store = instance.get();
                Upkeep upkeep = new Upkeep(store, Duration.ZERO)) {
            awaitExpired(dataSource, schema);
            assertThat(upkeep.run().finished()).isTrue();
        }
        assertThat(number(dataSource, "SELECT count(*) FROM " + schema + ".rate_limits"))
                .isEqualTo(admitted.values().stream()
                        .filter(count -> count.get() > 0)
                        .count());
        assertThat(number(dataSource, "SELECT count(*) FROM " + schema + ".rate_limit_penalties"))
                .isZero();
    }

    private static void awaitExpired(DataSource dataSource, String schema) {
        await().atMost(Duration.ofSeconds(10)).until(() -> {
            long now = InstantSource.system().millis() * 1_000;
            return number(
                                    dataSource,
                                    "SELECT count(*) FROM " + schema
                                            + ".rate_limits WHERE resource = 'fleeting' AND expires_at >= " + now)
                            == 0
                    && number(
                                    dataSource,
                                    "SELECT count(*) FROM " + schema + ".rate_limit_penalties WHERE forget_at >= "
                                            + now)
                            == 0;
        });
    }

    private static long number(DataSource dataSource, String query) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Three subjects whose state and violations have expired by the clock. */
    private static void threeExpired(LimitStore store, SettableClock clock) {
        try (StoreRateLimiter limiter =
                StoreRateLimiter.builder(store, Limits.of()).build()) {
            for (String name : new String[] {"a", "b", "c"}) {
                assertThat(limiter.decide(Subject.user(name), FLEETING).outcome())
                        .isEqualTo(Outcome.ALLOWED);
                assertThat(limiter.decide(Subject.user(name), FLEETING).outcome())
                        .isEqualTo(Outcome.THROTTLED);
            }
        }
        clock.move(Duration.ofSeconds(1));
    }

    @Test
    void upkeepPassesOverRowsThatSomebodyHoldsOnPostgres() throws Exception {
        TestPostgres postgres = TestPostgres.instance();
        String schema = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), schema);
        SettableClock clock = new SettableClock();
        try (LimitStore store = new PostgresLimitStore(postgres.dataSource(), schema, clock);
                Upkeep upkeep = new Upkeep(store, Duration.ZERO)) {
            threeExpired(store, clock);

            try (Connection holder = postgres.dataSource().getConnection();
                    Statement statement = holder.createStatement()) {
                holder.setAutoCommit(false);
                for (String table : new String[] {"rate_limits", "rate_limit_penalties"}) {
                    statement.execute("SELECT 1 FROM " + schema + "." + table + " WHERE user_id = 'user:b' FOR UPDATE");
                }

                assertThat(assertTimeoutPreemptively(GENEROUS, upkeep::run)).isEqualTo(new Upkeep.Report(2, 2, true));
                holder.rollback();
                holder.setAutoCommit(true);
            }

            assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(1, 1, true));
        }
    }

    @Test
    void upkeepLeavesTheRestToTheNextRunWhileSomebodyWritesOnSqlite(@TempDir Path folder) throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db")).busyTimeout(Duration.ofMinutes(1));
        Schema.migrate(file);
        SettableClock clock = new SettableClock();
        try (LimitStore store = new SqliteLimitStore(file, clock);
                Upkeep upkeep = new Upkeep(store, Duration.ZERO)) {
            threeExpired(store, clock);

            try (Connection holder = file.dataSource().getConnection();
                    Statement statement = holder.createStatement()) {
                statement.execute("BEGIN IMMEDIATE");

                assertThat(assertTimeoutPreemptively(GENEROUS, upkeep::run)).isEqualTo(new Upkeep.Report(0, 0, false));
                statement.execute("ROLLBACK");
            }

            assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(3, 3, true));
        }
    }
}
