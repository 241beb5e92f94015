package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.UnreachedStoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.SlotHash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An error of a server is a failure of the store, never an allowed request, and the store recovers by itself. */
@Timeout(60)
class RedisFailuresTest {

    private static final RedisOptions OPTIONS = RedisOptions.DEFAULT.withDeadline(Duration.ofMillis(500));
    private static final Subject ALICE = Subject.user("alice");
    private static final Subject BOB = Subject.user("bob");
    private static final Limit LIMIT = Instance.atMost("api", 1_000);

    private static RedisProcess server;
    private Instance instance;

    @BeforeAll
    static void start() {
        server = RedisProcess.start("rdbcompression no");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private Instance connect() {
        server.call(redis -> redis.flushall());
        instance = Instance.on(server, OPTIONS);
        return instance;
    }

    @AfterEach
    void close() {
        if (instance != null) {
            instance.close();
        }
    }

    enum Trouble {
        OOM("OOM ") {
            @Override
            void begin() {
                set("maxmemory", "1");
            }

            @Override
            void end() {
                set("maxmemory", "0");
            }
        },
        NOREPLICAS("NOREPLICAS ") {
            @Override
            void begin() {
                set("min-replicas-to-write", "1");
            }

            @Override
            void end() {
                set("min-replicas-to-write", "0");
            }
        },
        READONLY("READONLY ") {
            @Override
            void begin() {
                server.call(redis -> redis.replicaof("127.0.0.1", 1));
            }

            @Override
            void end() {
                server.call(redis -> redis.replicaofNoOne());
            }
        },
        MASTERDOWN("MASTERDOWN ") {
            @Override
            void begin() {
                set("replica-serve-stale-data", "no");
                server.call(redis -> redis.replicaof("127.0.0.1", 1));
            }

            @Override
            void end() {
                server.call(redis -> redis.replicaofNoOne());
                set("replica-serve-stale-data", "yes");
            }
        },
        MISCONF("MISCONF ") {
            @Override
            void begin() {
                set("save", "3600 1000000"); // it saves nothing by itself while the test runs
                inFolder(Files::createDirectory);
                server.call(redis -> redis.bgsave());
                awaitSaved("err");
            }

            @Override
            void end() {
                inFolder(Files::delete);
                server.call(redis -> redis.bgsave());
                awaitSaved("ok");
                set("save", "");
            }

            /** A folder in the place of the file makes it fail. */
            private void inFolder(FileAction action) {
                try {
                    action.with(server.folder().resolve("dump.rdb"));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            private void awaitSaved(String status) {
                Awaitility.await()
                        .until(() -> server.call(redis -> redis.info("persistence"))
                                .contains("rdb_last_bgsave_status:" + status));
            }
        },
        BUSY("BUSY ") {
            @Override
            void begin() {
                set("lua-time-limit", "1");
                background(() -> server.call(redis -> redis.eval("while true do end", ScriptOutputType.STATUS)));
                awaitError("BUSY");
            }

            @Override
            void end() {
                server.call(redis -> redis.scriptKill());
            }
        },
        LOADING("LOADING ") {
            @Override
            void begin() {
                server.call(redis -> {
                    for (int i = 0; i < 30; i++) {
                        redis.set("filler" + i, "x".repeat(700_000)); // it answers once in two megabytes
                    }
                    return null;
                });
                set("key-load-delay", "60000");
                background(() -> server.call(redis -> {
                    redis.debugReload();
                    return null;
                }));
                awaitError("LOADING");
            }

            @Override
            void end() {
                Awaitility.await()
                        .atMost(Duration.ofSeconds(30))
                        .ignoreExceptions()
                        .until(() -> server.call(redis -> redis.get("filler0")) != null);
                set("key-load-delay", "0");
            }
        };

        /** Does something with a file. */
        private interface FileAction {
            void with(Path file) throws IOException;
        }

        private final String message;

        Trouble(String message) {
            this.message = message;
        }

        abstract void begin();

        abstract void end();

        private static void set(String name, String value) {
            server.call(redis -> redis.configSet(name, value));
        }

        private static void background(Runnable action) {
            CompletableFuture<Void> unused = CompletableFuture.runAsync(action);
        }

        private static void awaitError(String error) {
            Awaitility.await().until(() -> {
                try {
                    server.call(redis -> redis.get("x"));
                    return false;
                } catch (RedisCommandExecutionException e) {
                    return e.getMessage().startsWith(error);
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void errorIsAFailureOfTheStoreAndPasses(Trouble trouble) {
        connect();
        assertThat(instance.decide(ALICE, LIMIT).allowed()).isTrue();
        trouble.begin();
        try {
            assertThatThrownBy(() -> instance.isAllowed(ALICE, LIMIT))
                    .isInstanceOf(LimitStoreException.class)
                    .hasMessageContaining(trouble.message);
            Decision decision = instance.decide(ALICE, LIMIT);
            assertThat(decision.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(decision.allowed()).isFalse();
        } finally {
            trouble.end();
        }

        awaitAllowed(ALICE);

        assertThat(instance.used(ALICE, LIMIT))
                .as("charged: failed requests are not")
                .isEqualTo(2);
    }

    private void awaitAllowed(Subject subject) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> instance.decide(subject, LIMIT).allowed());
    }

    @Test
    void keyOfAnotherTypeFailsOnlyItsOwnSubject() {
        connect();
        server.call(redis -> redis.lpush("rl:{user:alice}:api", "a list"));
        Operation alice = new Operation(Kind.DECIDE, List.of(new Demand(ALICE, LIMIT, 1)));
        Operation bob = new Operation(Kind.DECIDE, List.of(new Demand(BOB, LIMIT, 1)));

        assertThatThrownBy(() -> instance.store.decide(List.of(bob, alice, bob)))
                .isInstanceOfSatisfying(LimitStoreException.class, e -> {
                    assertThat(e.answers().stream().map(answer -> answer == null ? null : answer.allowed()))
                            .containsExactly(true, null, true);
                    assertThat(e)
                            .hasMessageContaining("rl:{user:alice}:api")
                            .hasMessageContaining("WRONGTYPE")
                            .hasMessageContaining("delete it, or use another key-prefix");
                });

        assertThat(instance.used(BOB, LIMIT)).isEqualTo(2);
        server.call(redis -> redis.del("rl:{user:alice}:api"));
        assertThat(instance.isAllowed(ALICE, LIMIT)).isTrue();
    }

    /** Sent to every instance with every request, it would hold up all subjects, and fill the memory of the application. */
    @Test
    void longValueIsNotSent() {
        connect();
        server.call(redis -> redis.setrange("rl:{user:alice}:api", 5_000_000, "of another application"));
        long before = bytesSent();

        assertThatThrownBy(() -> instance.isAllowed(ALICE, LIMIT))
                .isInstanceOf(LimitStoreException.class)
                .hasMessageContaining("rl:{user:alice}:api")
                .hasMessageContaining("longer than any value of a limit");

        assertThat(bytesSent() - before).isLessThan(1_000_000);
    }

    private static long bytesSent() {
        return server.call(redis -> redis.info("stats"))
                .lines()
                .filter(line -> line.startsWith("total_net_output_bytes:"))
                .mapToLong(line ->
                        Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
                .sum();
    }

    @Test
    void valueOfAnUnknownFormatFailsOnlyItsOwnSubject() {
        connect();
        server.call(redis -> redis.set("rl:{user:alice}:api", "written by hand"));
        Operation alice = new Operation(Kind.DECIDE, List.of(new Demand(ALICE, LIMIT, 1)));
        Operation bob = new Operation(Kind.DECIDE, List.of(new Demand(BOB, LIMIT, 1)));

        assertThatThrownBy(() -> instance.store.decide(List.of(alice, bob)))
                .isInstanceOfSatisfying(LimitStoreException.class, e -> {
                    Answer answer = e.answers().get(1);
                    assertThat(e.answers().get(0)).isNull();
                    assertThat(answer).isNotNull();
                    assertThat(answer.allowed()).isTrue();
                    assertThat(e).hasMessageContaining("rl:{user:alice}:api").hasMessageContaining("unknown format");
                });

        String left = server.call(redis -> redis.get("rl:{user:alice}:api"));
        assertThat(left).isEqualTo("written by hand");
    }

    /** Only one subject asks, and fails: that must not look as if the server had failed. */
    @Test
    void valueOfAnotherApplicationFailsNoOtherSubject() {
        connect();
        server.call(redis -> redis.set("rl:{user:alice}:api", "written by hand"));

        assertThatThrownBy(() -> instance.isAllowed(ALICE, LIMIT))
                .isInstanceOfSatisfying(LockedKeysException.class, e -> {
                    assertThat(e.keys()).containsExactly(StateKey.of(ALICE, LIMIT.name()));
                    assertThat(e.parts()).isEmpty();
                });
        long end = System.nanoTime() + 3 * OPTIONS.deadline().toNanos(); // the breaker opens after one
        while (System.nanoTime() < end) {
            assertThat(instance.decide(ALICE, LIMIT).outcome()).isEqualTo(Outcome.FAILED);
            LockSupport.parkNanos(20_000_000);
        }

        assertThat(instance.decide(BOB, LIMIT).outcome()).isEqualTo(Outcome.ALLOWED);
    }

    /** Its connections stay open, as those to an address that leads to another server by now. */
    @Test
    void replicaIsLeftForTheServerThatTheAddressLeadsToNow() throws Exception {
        try (RedisProcess next = RedisProcess.start();
                Relay address = Relay.to(server.port());
                Instance there = Instance.on(address.uri(), OPTIONS)) {
            server.call(redis -> redis.flushall());
            assertThat(there.decide(ALICE, LIMIT).allowed()).isTrue();
            address.leadTo(next.port());
            server.call(redis -> redis.replicaof("127.0.0.1", next.port()));
            try {
                Awaitility.await()
                        .atMost(Duration.ofSeconds(20))
                        .until(() -> there.decide(ALICE, LIMIT).allowed());
            } finally {
                server.call(redis -> redis.replicaofNoOne());
            }

            long kept = next.call(redis -> redis.exists("rl:{user:alice}:api"));
            assertThat(kept).isOne();
        }
    }

    /** TCP would give up after about 15 minutes. */
    @Test
    void connectionThatLeadsNowhereIsReplacedInACluster() throws Exception {
        try (RedisProcess node = RedisProcess.start("cluster-enabled yes");
                Relay firewall = Relay.to(node.port())) {
            int[] slots = IntStream.range(0, SlotHash.SLOT_COUNT).toArray();
            node.call(redis -> redis.clusterAddSlots(slots));
            node.kill();
            node.startAgain("cluster-announce-port " + firewall.port());
            instance = Instance.inClusterAt(firewall.uri(), OPTIONS);
            awaitAllowed(ALICE);

            firewall.forgetConnections();

            assertThat(instance.decide(ALICE, LIMIT).outcome()).isEqualTo(Outcome.FAILED);
            awaitAllowed(ALICE);
        }
    }

    @Test
    void pausedServerFailsByTheDeadlineAndFollowsTheFailurePolicy() throws Exception {
        connect();
        assertThat(instance.decide(ALICE, LIMIT).allowed()).isTrue();
        server.pause();
        try {
            assertThatThrownBy(() -> instance.isAllowed(ALICE, LIMIT))
                    .isInstanceOf(LimitStoreException.class)
                    .hasMessageContaining("no answer in time");
            assertThat(instance.decide(ALICE, LIMIT).outcome()).isEqualTo(Outcome.FAILED);
            assertThat(instance.limiter
                            .decide(LimitRequest.of(ALICE, LIMIT).onFailure(FailurePolicy.OPEN))
                            .allowed())
                    .isTrue();
            Decision local =
                    instance.limiter.decide(LimitRequest.of(ALICE, LIMIT).onFailure(FailurePolicy.LOCAL));
            assertThat(local.local()).isTrue();
            Thread.sleep(1_000); // the commands that wait in the server's socket are too old by then
        } finally {
            server.resume();
        }

        awaitAllowed(ALICE);

        // The two that were admitted by the store, and the one that was decided here and charged later.
        Awaitility.await().until(() -> instance.used(ALICE, LIMIT) == 3);
    }

    @Test
    void decisionThatWaitedInAPausedServerIsDecidedAgain() throws Exception {
        server.call(redis -> redis.flushall());
        instance = Instance.on(server, Instance.PATIENT);
        assertThat(instance.isAllowed(ALICE, LIMIT)).isTrue();
        AtomicReference<Boolean> allowed = new AtomicReference<>();
        server.pause();
        Thread asking = new Thread(() -> allowed.set(instance.isAllowed(ALICE, LIMIT)));
        asking.start();
        try {
            Thread.sleep(1_200);
        } finally {
            server.resume();
        }
        asking.join(TimeUnit.SECONDS.toMillis(20));

        assertThat(allowed.get()).isTrue();
        assertThat(instance.used(ALICE, LIMIT)).isEqualTo(2);
    }

    /** As by default: while one slot has no server, no server answers for any. */
    @Test
    void clusterThatIsDownFailsAndPasses() throws Exception {
        try (RedisProcess node = RedisProcess.start("cluster-enabled yes")) {
            int[] slots = IntStream.range(0, SlotHash.SLOT_COUNT).toArray();
            int other = SlotHash.getSlot("{user:bob}");
            node.call(redis -> redis.clusterAddSlots(slots));
            instance = Instance.inClusterAt(node.uri(), OPTIONS);
            awaitAllowed(ALICE);
            node.call(redis -> redis.clusterDelSlots(other));

            Awaitility.await()
                    .untilAsserted(() -> assertThatThrownBy(() -> instance.used(ALICE, LIMIT))
                            .isInstanceOf(LimitStoreException.class)
                            .hasMessageContaining("CLUSTERDOWN"));
            assertThatThrownBy(() -> instance.isAllowed(ALICE, LIMIT))
                    .isInstanceOf(UnreachedStoreException.class)
                    .hasMessageContaining("CLUSTERDOWN");
            node.call(redis -> redis.clusterAddSlots(other));

            awaitAllowed(ALICE);
            assertThat(instance.used(ALICE, LIMIT)).isEqualTo(2);
        }
    }

    @Test
    void slotThatNoServerHasFailsOnlyItsOwnSubjects() throws Exception {
        try (RedisProcessCluster cluster = RedisProcessCluster.start(3, 0, "cluster-require-full-coverage no");
                Instance there = Instance.on(cluster, OPTIONS)) {
            int slot = SlotHash.getSlot("{user:alice}");
            RedisProcess owner = cluster.masters().get(slot * 3 / SlotHash.SLOT_COUNT);
            assertThat(there.isAllowed(ALICE, LIMIT)).isTrue();
            assertThat(there.isAllowed(BOB, LIMIT)).isTrue();
            cluster.masters().forEach(master -> master.call(redis -> redis.clusterDelSlots(slot)));

            assertThatThrownBy(() -> there.isAllowed(ALICE, LIMIT))
                    .isInstanceOf(LimitStoreException.class)
                    .hasMessageMatching("(?s).*(CLUSTERDOWN|Cannot determine a partition).*");
            assertThat(there.isAllowed(BOB, LIMIT)).isTrue();
            owner.call(redis -> redis.clusterAddSlots(slot));

            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> there.decide(ALICE, LIMIT).allowed());
        }
    }
}
