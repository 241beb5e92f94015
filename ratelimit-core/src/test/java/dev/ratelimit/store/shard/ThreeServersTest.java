package dev.ratelimit.store.shard;

import static dev.ratelimit.store.shard.TestShards.atMost;
import static dev.ratelimit.store.shard.TestShards.charged;
import static dev.ratelimit.store.shard.TestShards.isAllowed;
import static dev.ratelimit.store.shard.TestShards.users;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.PostgresLimitStore;
import dev.ratelimit.store.postgresql.shard.PostgresShardTables;
import dev.ratelimit.testing.postgres.PostgresNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Shards on three servers, one of which is killed. */
@Timeout(180)
class ThreeServersTest {

    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final int KILLED = 1;
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    @TempDir
    Path folder;

    private final List<PostgresNode> servers = new ArrayList<>();
    private final List<HikariDataSource> pools = new ArrayList<>();

    @BeforeEach
    void start() {
        for (String name : NAMES) {
            PostgresNode server = new PostgresNode(folder.resolve(name));
            server.start();
            servers.add(server);
        }
    }

    @AfterEach
    void stop() {
        pools.forEach(HikariDataSource::close);
        servers.forEach(PostgresNode::close);
    }

    private ShardedLimitStore open() {
        List<Shard> shards = new ArrayList<>();
        for (int i = 0; i < NAMES.size(); i++) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(servers.get(i).jdbcUrl());
            config.setMaximumPoolSize(4);
            config.setConnectionTimeout(500);
            HikariDataSource pool = new HikariDataSource(config);
            pools.add(pool);
            Schema.migrate(pool, PostgresLimitStore.DEFAULT_SCHEMA);
            shards.add(new Shard(
                    NAMES.get(i),
                    new PostgresLimitStore(pool, PostgresLimitStore.DEFAULT_SCHEMA).withDeadline(DEADLINE),
                    new PostgresShardTables(pool, PostgresLimitStore.DEFAULT_SCHEMA, DEADLINE)));
        }
        return new ShardedLimitStore(shards, DEADLINE, TestShards.AWAKE);
    }

    @Test
    void onlySubjectsOfTheKilledServerFailAndTheyComeBackWithTheirCounts() throws Exception {
        Limit limit = atMost("calls", 500);
        try (ShardedLimitStore one = open();
                ShardedLimitStore two = open()) {
            List<Subject> all = users(30);
            List<Subject> dead = all.stream()
                    .filter(user -> one.part(StateKey.of(user, limit.name())) == KILLED)
                    .toList();
            List<Subject> alive =
                    all.stream().filter(user -> !dead.contains(user)).toList();
            assertThat(dead).hasSizeBetween(3, 20);
            all.forEach(user -> assertThat(isAllowed(one, user, limit)).isTrue());

            servers.get(KILLED).kill();

            LimitStoreException failure =
                    catchThrowableOfType(LimitStoreException.class, () -> one.decide(group(all, limit)));
            assertThat(failure.parts()).isEqualTo(Set.of(KILLED));
            for (int i = 0; i < all.size(); i++) {
                assertThat(failure.answers().get(i) != null)
                        .as("decided %s", all.get(i))
                        .isEqualTo(alive.contains(all.get(i)));
            }
            int admitted = decideOn(alive, limit, List.of(one, two));
            assertThat(admitted).as("each request is decided").isEqualTo(alive.size() * 40);
            alive.forEach(user -> assertThat(charged(two, user, limit)).isEqualTo(1 + 1 + 40));
            assertThat(userAndAddress(one, alive.get(0), dead.get(0), limit))
                    .as("a request over a dead and a live shard")
                    .isNull();
            assertThat(charged(one, alive.get(0), limit)).isEqualTo(1 + 1 + 40);

            servers.get(KILLED).start();

            Awaitility.await()
                    .ignoreExceptionsInstanceOf(LimitStoreException.class)
                    .untilAsserted(() -> dead.forEach(
                            user -> assertThat(charged(one, user, limit)).isEqualTo(1)));
            assertThat(isAllowed(two, dead.get(0), limit)).isTrue();
        }
    }

    /** Through the limiter, each shard has its own queue and breaker. */
    @Test
    void limiterDecidesSubjectsOfOtherServersAsBefore() throws Exception {
        Limit limit = atMost("calls", 1_000);
        try (ShardedLimitStore store = open();
                StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(limit))
                        .grouping(Grouping.DEFAULT.withDeadline(DEADLINE))
                        .build()) {
            List<Subject> all = users(30);
            all.forEach(
                    user -> assertThat(limiter.decide(user, "calls").outcome()).isEqualTo(Outcome.ALLOWED));
            servers.get(KILLED).kill();

            AtomicInteger undecided = new AtomicInteger();
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (int t = 0; t < 6; t++) {
                threads.add(CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < 10; i++) {
                        for (Subject user : all) {
                            Decision decision =
                                    limiter.decide(LimitRequest.of(user, limit).onFailure(FailurePolicy.CLOSED));
                            boolean dead = store.part(StateKey.of(user, limit.name())) == KILLED;
                            assertThat(decision.outcome().isDecided())
                                    .as("decided %s", user)
                                    .isEqualTo(!dead);
                            undecided.addAndGet(dead ? 1 : 0);
                        }
                    }
                }));
            }
            threads.forEach(CompletableFuture::join);

            assertThat(undecided).hasPositiveValue();
            all.stream()
                    .filter(user -> store.part(StateKey.of(user, limit.name())) != KILLED)
                    .forEach(user -> assertThat(charged(store, user, limit)).isEqualTo(61));
        }
    }

    private static List<Operation> group(List<Subject> subjects, Limit limit) {
        return subjects.stream()
                .map(user -> TestShards.operation(Kind.DECIDE, user, limit))
                .toList();
    }

    /** Forty requests of each, from four threads; a failure is not caught. */
    private static int decideOn(List<Subject> subjects, Limit limit, List<ShardedLimitStore> instances) {
        AtomicInteger admitted = new AtomicInteger();
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            ShardedLimitStore instance = instances.get(t % instances.size());
            threads.add(CompletableFuture.runAsync(() -> {
                for (int i = 0; i < 10; i++) {
                    for (Answer answer : instance.decide(group(subjects, limit))) {
                        admitted.addAndGet(answer.allowed() ? 1 : 0);
                    }
                }
            }));
        }
        threads.forEach(CompletableFuture::join);
        return admitted.get();
    }

    private static Object userAndAddress(ShardedLimitStore store, Subject alive, Subject dead, Limit limit) {
        Operation both = new Operation(Kind.DECIDE, List.of(new Demand(alive, limit, 1), new Demand(dead, limit, 1)));
        LimitStoreException failure =
                catchThrowableOfType(LimitStoreException.class, () -> store.decide(List.of(both)));
        return failure.answers().get(0);
    }
}
