package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Three instances on the same rows, some of which the admission statement takes and some the Java path. */
@Timeout(90)
class BothPathsTest {

    private static final int INSTANCES = 3;
    private static final int CALLERS = 4;
    private static final int KEYS = 20;
    private static final Duration TIME = Duration.ofSeconds(4);
    private static final Duration AGES = Duration.ofDays(3650);

    private static final Limit ROOMY =
            Limit.named("roomy").algorithm(new FixedWindow(1_000_000_000, AGES)).build();
    private static final Limit OTHER_TIER = Limit.named("roomy")
            .algorithm(new TokenBucket(1_000_000, Rate.perSecond(1)))
            .build();
    private static final Limit SLIDING = Limit.named("sliding")
            .algorithm(new SlidingWindow(1_000_000_000, AGES))
            .build();

    /** Counts its violations, and never begins a penalty. */
    private static final Limit FULL = Limit.named("full")
            .algorithm(new FixedWindow(1, AGES))
            .penalty(1_000_000, Duration.ofMinutes(1))
            .build();

    private static final Subject HOT = Subject.user("hot");

    private final TestPostgres postgres = TestPostgres.instance();
    private final AtomicLong violations = new AtomicLong();
    private final AtomicLong admitted = new AtomicLong();

    @Test
    void instancesNeverDeadlockAndCountViolationsExactly() throws Exception {
        TestSeed seed = TestSeed.of("BothPathsTest");
        String schema = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), schema);
        long before = number("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
        try (HikariDataSource pool = pool(schema)) {
            List<PostgresLimitStore> instances = new ArrayList<>();
            for (int i = 0; i < INSTANCES; i++) {
                instances.add(new PostgresLimitStore(pool, schema).withDeadline(Duration.ofSeconds(30)));
            }
            long end = System.nanoTime() + TIME.toNanos();
            Together.run(INSTANCES * CALLERS, number -> () -> {
                RandomGenerator random = seed.history(number);
                while (System.nanoTime() < end) {
                    decide(instances.get(number % INSTANCES), group(random));
                }
                return null;
            });
        }
        await().atMost(Duration.ofSeconds(20)) // the counts of a connection are certain once it is closed
                .until(() ->
                        number("SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + schema + "'") == 0);

        assertThat(number("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"))
                .isEqualTo(before);
        assertThat(violations).hasValueGreaterThan(100);
        assertThat(number("SELECT sum(violation_count) FROM " + schema + ".rate_limit_penalties"))
                .isEqualTo(violations.get());
        assertThat(number("SELECT sum(request_count) FROM " + schema + ".rate_limits WHERE resource = 'sliding'"))
                .isEqualTo(admitted.get());
    }

    /** Subjects in any order: alone, over several limits, with settlements, and the hot one that has no room. */
    private static List<Operation> group(RandomGenerator random) {
        List<Operation> group = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            Subject subject = Subject.user("user" + key);
            Limit tier = key % 2 == 0 ? ROOMY : OTHER_TIER;
            switch (random.nextInt(8)) {
                case 0, 1 -> group.add(decide(new Demand(subject, tier, 1)));
                case 2, 3 -> group.add(decide(new Demand(subject, SLIDING, 1)));
                case 4 -> group.add(decide(new Demand(subject, SLIDING, 1), new Demand(subject, tier, 1)));
                case 5 -> group.add(decide(new Demand(HOT, FULL, 1)));
                case 6 -> group.add(new Operation(Kind.PEEK, List.of(new Demand(subject, tier, 1))));
                default -> {
                    // not all in each group
                }
            }
        }
        group.add(decide(new Demand(HOT, FULL, 1)));
        Collections.shuffle(group, new java.util.Random(random.nextLong()));
        return group;
    }

    private static Operation decide(Demand... demands) {
        return new Operation(Kind.DECIDE, List.of(demands));
    }

    private void decide(PostgresLimitStore instance, List<Operation> group) {
        List<Answer> answers = instance.decide(group);
        List<Operation> settlements = new ArrayList<>();
        for (int i = 0; i < group.size(); i++) {
            if (group.get(i).kind() == Kind.DECIDE) {
                Demand demand = group.get(i).demands().get(0);
                Verdict verdict = answers.get(i).first();
                if (!answers.get(i).allowed()) {
                    violations.incrementAndGet();
                } else if (demand.limit().equals(SLIDING)) {
                    admitted.incrementAndGet();
                } else if (i % 4 == 0 && demand.limit().equals(ROOMY)) {
                    Demand refund = new Demand(demand.subject(), demand.limit(), 0, verdict.charge());
                    settlements.add(new Operation(Kind.SETTLE, List.of(refund)));
                }
            }
        }
        if (!settlements.isEmpty()) {
            instance.decide(settlements);
        }
    }

    private HikariDataSource pool(String name) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(postgres.jdbcUrl());
        config.addDataSourceProperty("ApplicationName", name);
        config.setMaximumPoolSize(INSTANCES * CALLERS);
        config.setConnectionInitSql("SET deadlock_timeout = '100ms'");
        return new HikariDataSource(config);
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
