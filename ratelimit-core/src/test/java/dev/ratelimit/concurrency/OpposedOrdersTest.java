package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.testing.TestSeed;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Groups that want the same rows in opposed orders, while rows come and go. */
@Timeout(60)
class OpposedOrdersTest {

    private static final Logger log = LoggerFactory.getLogger(OpposedOrdersTest.class);

    private static final int DECIDING = 12;
    private static final int PRUNING = 2;
    private static final int KEYS = 30;
    private static final Duration TIME = Duration.ofSeconds(3);

    private final TestPostgres postgres = TestPostgres.instance();

    /** The ways to decide. */
    enum Way {
        LOCKS,
        SWAPS,
        BOTH;

        /** The store of a thread. */
        private LimitStore open(HikariDataSource pool, String schema, int number) {
            return this == LOCKS || (this == BOTH && number % 3 == 0)
                    ? new PostgresLimitStore(pool, schema)
                    : new PostgresSwapStore(pool, schema).withDeadline(Duration.ofSeconds(30));
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void groupsInOpposedOrdersNeverDeadlockNorFail(Way way) throws Exception {
        TestSeed seed = TestSeed.of("OpposedOrdersTest");
        String schema = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), schema);
        // A row is worth nothing a millisecond after it was written, so it is pruned and missing again; and those that
        // are denied leave violations behind, in rows of another table.
        Limit fleeting = Limit.named("fleeting")
                .algorithm(new TokenBucket(2, Rate.of(1, Duration.ofNanos(500_000))))
                .build();
        Limit punished = Limit.named("punished")
                .algorithm(new TokenBucket(1, Rate.of(1, Duration.ofMillis(2))))
                .penalty(2, Duration.ofMillis(1))
                .forgetAfter(Duration.ofMillis(3))
                .build();
        long before = deadlocks();
        AtomicLong groups = new AtomicLong();
        AtomicLong pruned = new AtomicLong();

        try (HikariDataSource pool = pool(schema)) {
            long end = System.nanoTime() + TIME.toNanos();
            Together.run(DECIDING + PRUNING, number -> () -> {
                RandomGenerator random = seed.history(number);
                LimitStore store = way.open(pool, schema, number);
                while (System.nanoTime() < end) {
                    if (number < DECIDING) {
                        List<Operation> group = group(random, number % 2 == 0, fleeting, punished);
                        List<Answer> answers = store.decide(group);
                        assertThat(answers).hasSameSizeAs(group);
                        groups.incrementAndGet();
                    } else {
                        // Each with its own place in the tables, as two instances have.
                        LimitStore pruner = way.open(pool, schema, number);
                        for (int i = 0; i < 6; i++) {
                            pruned.addAndGet(pruner.prune(0).states());
                        }
                    }
                }
                return null;
            });
        }

        awaitGone(schema); // the counts of a connection are certain once it is closed
        log.info("{}: {} groups, {} rows pruned", way, groups, pruned);
        assertThat(deadlocks()).isEqualTo(before);
        assertThat(groups).hasValueGreaterThan(20);
        assertThat(pruned).hasValueGreaterThan(20);
    }

    private HikariDataSource pool(String name) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.addDataSourceProperty("ApplicationName", name);
        config.setMaximumPoolSize(DECIDING + PRUNING);
        // Long before the wait for a row is given up, so that a deadlock is told from a slow machine.
        config.setConnectionInitSql("SET deadlock_timeout = '200ms'");
        return new HikariDataSource(config);
    }

    private static List<Operation> group(RandomGenerator random, boolean ascending, Limit... limits) {
        List<Integer> keys = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            if (random.nextInt(3) > 0) {
                keys.add(key);
            }
        }
        keys.add(KEYS);
        if (!ascending) {
            Collections.reverse(keys);
        }
        List<Operation> group = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            Subject subject = Subject.user(String.format("user%02d", keys.get(i)));
            int kind = random.nextInt(10);
            List<Demand> demands = new ArrayList<>();
            for (Limit limit : limits) {
                demands.add(new Demand(subject, limit, 1));
            }
            if (!ascending) {
                Collections.reverse(demands);
            }
            group.add(new Operation(kind == 0 ? Kind.RESET : kind == 1 ? Kind.PEEK : Kind.DECIDE, demands));
        }
        return group;
    }

    private long deadlocks() throws SQLException {
        return number("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
    }

    private void awaitGone(String name) {
        await().atMost(Duration.ofSeconds(20))
                .until(() ->
                        number("SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + name + "'") == 0);
    }

    private long number(String query) throws SQLException {
        try (Connection connection = postgres.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
