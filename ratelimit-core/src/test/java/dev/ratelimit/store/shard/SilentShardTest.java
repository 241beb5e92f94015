package dev.ratelimit.store.shard;

import static dev.ratelimit.store.shard.TestShards.ASLEEP;
import static dev.ratelimit.store.shard.TestShards.atMost;
import static dev.ratelimit.store.shard.TestShards.charged;
import static dev.ratelimit.store.shard.TestShards.isAllowed;
import static dev.ratelimit.store.shard.TestShards.operation;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.UnreachedStoreException;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.shard.PostgresShardTables;
import dev.ratelimit.testing.postgres.StoppablePostgres;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Shard c is added to a and b. Meanwhile b is frozen: it accepts connections, and answers nothing. */
@Timeout(120)
class SilentShardTest {

    private static final Duration DEADLINE = Duration.ofSeconds(2);

    /** Far beyond the deadline: without one, a call takes for ever. */
    private static final Duration AT_LAST = Duration.ofSeconds(40);

    private static final Limit LIMIT = atMost("calls", 1_000);
    private static final Rendezvous BEFORE = new Rendezvous(List.of("a", "b"));
    private static final Rendezvous AFTER = new Rendezvous(List.of("a", "b", "c"));

    @TempDir
    Path folder;

    private final List<HikariDataSource> pools = new ArrayList<>();
    private final String schemaOfA = TestPostgres.instance().freshSchema();
    private final String schemaOfC = TestPostgres.instance().freshSchema();
    private StoppablePostgres silent;

    @BeforeEach
    void start() {
        silent = new StoppablePostgres(folder.resolve("b"));
        silent.start();
        Schema.migrate(TestPostgres.instance().dataSource(), schemaOfA);
        Schema.migrate(TestPostgres.instance().dataSource(), schemaOfC);
    }

    @AfterEach
    void stop() {
        silent.resume();
        pools.forEach(HikariDataSource::close);
        silent.close();
    }

    private Shard shard(String name) {
        if (!name.equals("b")) {
            return shard(name, TestPostgres.instance().dataSource(), name.equals("a") ? schemaOfA : schemaOfC);
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(silent.jdbcUrl());
        config.setMaximumPoolSize(8);
        config.setConnectionTimeout(DEADLINE.toMillis());
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        Schema.migrate(pool, PostgresLimitStore.DEFAULT_SCHEMA);
        return shard(name, pool, PostgresLimitStore.DEFAULT_SCHEMA);
    }

    private static Shard shard(String name, DataSource database, String schema) {
        return new Shard(
                name,
                new PostgresLimitStore(database, schema).withDeadline(DEADLINE),
                new PostgresShardTables(database, schema, DEADLINE));
    }

    private ShardedLimitStore open(String... names) {
        return new ShardedLimitStore(List.of(names).stream().map(this::shard).toList(), DEADLINE, ASLEEP);
    }

    private static List<Subject> users(int before, int after) {
        return TestShards.users(90).stream()
                .filter(user -> BEFORE.of(user.text()) == before && AFTER.of(user.text()) == after)
                .toList();
    }

    @Test
    void callerThatReadsTheListAgainDoesNotWaitForASilentShard() {
        Subject moved = users(0, 2).get(0);
        try (ShardedLimitStore old = open("a", "b");
                ShardedLimitStore longer = open("a", "b", "c")) {
            assertThat(isAllowed(longer, moved, LIMIT)).isTrue();
            silent.pause();

            assertTimeoutPreemptively(
                    AT_LAST,
                    () -> assertThatThrownBy(() -> isAllowed(old, moved, LIMIT))
                            .isInstanceOf(LimitStoreException.class)
                            .hasMessageContaining("moved"));

            Awaitility.await()
                    .atMost(AT_LAST)
                    .untilAsserted(() -> assertThatThrownBy(() -> isAllowed(old, moved, LIMIT))
                            .as("the list of the other shard has been read")
                            .hasMessageContaining("has moved to a shard that this instance does not know"));
        }
    }

    @Test
    void othersAreDecidedWhileAnOldShardIsSilent() {
        List<Subject> stuck = users(1, 2);
        List<Subject> others = users(0, 2);
        open("a", "b").close();
        try (ShardedLimitStore store = open("a", "b", "c");
                StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(LIMIT))
                        .grouping(Grouping.DEFAULT.withDeadline(DEADLINE))
                        .build()) {
            users(1, 1).forEach(user -> assertThat(isDecided(limiter, user)).isTrue());
            others.forEach(user -> assertThat(isDecided(limiter, user)).isTrue());
            silent.pause();
            AtomicBoolean done = new AtomicBoolean();
            List<CompletableFuture<Void>> load = new ArrayList<>();
            for (Subject user : stuck.subList(0, 4)) {
                load.add(CompletableFuture.runAsync(() -> {
                    while (!done.get()) {
                        assertThat(isDecided(limiter, user)).isFalse();
                    }
                }));
            }

            for (int i = 0; i < 20; i++) {
                for (Subject user : others) {
                    assertThat(isDecided(limiter, user)).as("decided %s", user).isTrue();
                }
            }
            done.set(true);
            load.forEach(CompletableFuture::join);

            silent.resume();
            Awaitility.await()
                    .atMost(AT_LAST)
                    .untilAsserted(
                            () -> assertThat(isDecided(limiter, stuck.get(0))).isTrue());
            assertThat(charged(store, others.get(0), LIMIT)).isEqualTo(21);
        }
    }

    private static boolean isDecided(StoreRateLimiter limiter, Subject user) {
        return limiter.decide(LimitRequest.of(user, LIMIT).onFailure(FailurePolicy.CLOSED))
                .outcome()
                .isDecided();
    }

    /** Then a refund is made again later. */
    @Test
    void operationOnStateThatCannotBeBroughtHasChangedNothing() {
        Subject stuck = users(1, 2).get(0);
        open("a", "b").close();
        try (ShardedLimitStore store = open("a", "b", "c")) {
            silent.pause();
            Charge charge = new Charge(1, 1, 1);
            Operation refund = new Operation(
                    Kind.SETTLE, List.of(new Demand(stuck, LIMIT, StateKey.of(stuck, LIMIT.name()), 0, charge, null)));

            for (Operation operation : List.of(refund, operation(Kind.DECIDE, stuck, LIMIT))) {
                assertThatThrownBy(() -> store.decide(List.of(operation)))
                        .isInstanceOf(UnreachedStoreException.class)
                        .hasMessage("shard b, which has the state so far, does not answer");
            }
        }
    }
}
