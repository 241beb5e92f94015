package dev.ratelimit.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.swap.PostgresSwapStore;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decisions survive the end of the process, however it ends. */
@Timeout(120)
class DurabilityTest {

    private static final Logger log = LoggerFactory.getLogger(DurabilityTest.class);

    private static final int ENOUGH = 400;

    @Test
    void everyAcknowledgedDecisionIsInTheSqliteFileAfterTheProcessWasKilled(@TempDir Path folder) throws Exception {
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        Schema.migrate(file);

        long acknowledged =
                killInTheMiddle(folder.resolve("output"), "sqlite", file.path().toString(), "until-killed");

        assertNothingLost(counted(file.dataSource(), "main"), acknowledged);
        try (LimitStore reopened = new SqliteLimitStore(file)) {
            assertGoesOn(reopened, counted(file.dataSource(), "main"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "postgresql-swap"})
    void everyAcknowledgedDecisionIsInPostgresAfterTheProcessWasKilled(String kind, @TempDir Path folder)
            throws Exception {
        TestPostgres postgres = TestPostgres.durable();
        String schema = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), schema);

        long acknowledged = killInTheMiddle(folder.resolve("output"), kind, postgres.jdbcUrl(), schema, "until-killed");

        // A group that had reached the server is still decided there after its client has gone.
        awaitNoOtherStatement(postgres.dataSource(), schema);
        assertNothingLost(counted(postgres.dataSource(), schema), acknowledged);
        try (LimitStore reopened = new PostgresLimitStore(postgres.dataSource(), schema)) {
            assertGoesOn(reopened, counted(postgres.dataSource(), schema));
        }
    }

    @Test
    void everyAcknowledgedDecisionIsInPostgresAfterTheServerWasKilled(@TempDir Path folder) throws Exception {
        try (StoppablePostgres server = new StoppablePostgres(folder.resolve("data"))) {
            List.of("fsync", "full_page_writes", "synchronous_commit").forEach(setting -> server.set(setting, "on"));
            server.start();
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setUrl(server.jdbcUrl());
            Schema.migrate(dataSource, "ratelimit");
            AtomicLong acknowledged = new AtomicLong();
            try (StoreRateLimiter limiter = StoreRateLimiter.builder(
                            new PostgresLimitStore(dataSource, "ratelimit"), Limits.of())
                    .build()) {
                Thread deciding = new Thread(() -> {
                    while (limiter.decide(LimiterProcess.SUBJECT, LimiterProcess.ENDLESS)
                                    .failure()
                            == null) {
                        acknowledged.incrementAndGet();
                    }
                });
                deciding.start();
                await().atMost(Duration.ofSeconds(60)).until(() -> acknowledged.get() >= ENOUGH);
                server.kill();
                deciding.join();
            }

            server.start();

            assertThat(counted(dataSource, "ratelimit")).isBetween(acknowledged.get(), acknowledged.get() + 1);
        }
    }

    /** No transaction spans both shards: the process may leave a charge on one of them for each of its threads. */
    @Test
    void everyAcknowledgedDecisionOverTwoShardsIsOnBothAfterTheProcessWasKilled(@TempDir Path folder) throws Exception {
        TestPostgres postgres = TestPostgres.durable();
        String one = postgres.freshSchema();
        String two = postgres.freshSchema();
        Schema.migrate(postgres.dataSource(), one);
        Schema.migrate(postgres.dataSource(), two);
        try (ShardedLimitStore shards = LimiterProcess.shards(postgres.dataSource(), one, two)) {
            StateKey user = StateKey.of(LimiterProcess.SUBJECT, LimiterProcess.ENDLESS.name());
            StateKey address = StateKey.of(LimiterProcess.ADDRESS, LimiterProcess.ENDLESS.name());
            assertThat(shards.part(user)).isNotEqualTo(shards.part(address));

            long acknowledged = killInTheMiddle(
                    folder.resolve("output"), "shards", postgres.jdbcUrl(), one + "," + two, "both-until-killed");

            awaitNoOtherStatement(postgres.dataSource(), one);
            awaitNoOtherStatement(postgres.dataSource(), two);
            assertNothingLost(charged(shards, LimiterProcess.SUBJECT), acknowledged);
            assertNothingLost(charged(shards, LimiterProcess.ADDRESS), acknowledged);
        }
    }

    private static long charged(LimitStore store, Subject subject) {
        Operation peek = new Operation(Kind.PEEK, List.of(new Demand(subject, LimiterProcess.ENDLESS, 1)));
        return LimiterProcess.ENDLESS.capacity() - store.decide(peek).first().remaining();
    }

    /** How many decisions the process had acknowledged when it was killed. */
    private static long killInTheMiddle(Path output, String... arguments) throws Exception {
        Process process = LimiterChild.startInto(output, arguments);
        try {
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> admitted(output) >= ENOUGH);
            assertThat(process.isAlive()).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as("killed by SIGKILL").isEqualTo(128 + 9);
        assertThat(Files.readString(output)).doesNotContain("not admitted");
        return admitted(output);
    }

    private static long admitted(Path output) throws IOException {
        String line = LimiterProcess.MARK + "admitted\n";
        String said = Files.readString(output);
        long lines = 0;
        for (int at = said.indexOf(line); at >= 0; at = said.indexOf(line, at + line.length())) {
            lines++;
        }
        return lines;
    }

    private static void assertNothingLost(long counted, long acknowledged) {
        log.info("killed after {} acknowledged decisions; counted are {}", acknowledged, counted);
        assertThat(counted).isBetween(acknowledged, acknowledged + LimiterProcess.THREADS);
    }

    private static void assertGoesOn(LimitStore store, long counted) {
        try (StoreRateLimiter limiter =
                StoreRateLimiter.builder(store, Limits.of()).build()) {
            Decision next = limiter.decide(LimiterProcess.SUBJECT, LimiterProcess.ENDLESS);
            assertThat(next.outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(next.remaining()).isEqualTo(LimiterProcess.ENDLESS.capacity() - counted - 1);
        }
    }

    private static long counted(DataSource dataSource, String schema) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT request_count FROM " + schema
                        + ".rate_limits WHERE user_id = 'user:everybody' AND resource = 'endless'")) {
            assertThat(row.next()).isTrue();
            return row.getLong(1);
        }
    }

    private static void awaitNoOtherStatement(DataSource dataSource, String schema) {
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("""
                            SELECT count(*) FROM pg_stat_activity
                            WHERE pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%%%s%%'
                            """.formatted(schema))) {
                row.next();
                return row.getLong(1) == 0;
            }
        });
    }

    @Test
    void countsAndPenaltiesSurviveARestartOnSqlite(@TempDir Path folder) {
        SettableClock clock = new SettableClock();
        SqliteFile file = SqliteFile.at(folder.resolve("ratelimit.db"));
        assertSurvivesRestart(clock, () -> {
            Schema.migrate(file);
            return new SqliteLimitStore(file, clock);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void countsAndPenaltiesSurviveARestartOnPostgres(boolean swaps) {
        SettableClock clock = new SettableClock();
        TestPostgres postgres = TestPostgres.instance();
        String schema = postgres.freshSchema();
        assertSurvivesRestart(clock, () -> {
            Schema.migrate(postgres.dataSource(), schema);
            return swaps
                    ? new PostgresSwapStore(postgres.dataSource(), schema, clock)
                    : new PostgresLimitStore(postgres.dataSource(), schema, clock);
        });
    }

    private static void assertSurvivesRestart(SettableClock clock, Supplier<LimitStore> open) {
        Duration hour = Duration.ofHours(1);
        List<Limit> limits = List.of(
                Limit.named("fixed-window").algorithm(new FixedWindow(5, hour)).build(),
                Limit.named("sliding-window")
                        .algorithm(new SlidingWindow(5, hour))
                        .build(),
                Limit.named("sliding-log").algorithm(new SlidingLog(5, hour)).build(),
                Limit.named("token-bucket")
                        .algorithm(new TokenBucket(5, Rate.of(5, hour)))
                        .build(),
                Limit.named("leaky-bucket")
                        .algorithm(new LeakyBucket(5, Rate.of(5, hour)))
                        .build(),
                Limit.named("min-interval")
                        .algorithm(new TokenBucket(5, Rate.of(5, hour)))
                        .minInterval(Duration.ofMinutes(10))
                        .build(),
                Limit.named("penalty")
                        .algorithm(new FixedWindow(1, hour))
                        .penalty(1, hour.multipliedBy(2))
                        .penalty(2, hour.multipliedBy(5))
                        .build());
        Subject alice = Subject.user("alice");
        List<Decision> before = new ArrayList<>();
        try (LimitStore store = open.get();
                StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of(limits)).build()) {
            for (Limit limit : limits) {
                for (int i = 0; i < 3; i++) {
                    limiter.decide(alice, limit.name());
                }
                before.add(limiter.peek(alice, limit.name()));
            }
        }
        assertThat(before.get(0).remaining()).isEqualTo(2);

        try (LimitStore store = open.get();
                StoreRateLimiter limiter =
                        StoreRateLimiter.builder(store, Limits.of(limits)).build()) {
            for (int i = 0; i < limits.size(); i++) {
                assertThat(limiter.peek(LimitRequest.of(alice, limits.get(i))))
                        .as(limits.get(i).name())
                        .isEqualTo(before.get(i));
            }
            // The violation is remembered, too: the second one brings the second tier.
            clock.move(hour.multipliedBy(2));
            assertThat(limiter.decide(alice, "penalty").outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(limiter.decide(alice, "penalty").retryAfter()).isEqualTo(hour.multipliedBy(5));
        }
    }
}
