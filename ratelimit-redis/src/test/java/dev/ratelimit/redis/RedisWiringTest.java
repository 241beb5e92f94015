package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.store.redis.AnotherClock;
import dev.ratelimit.store.redis.RedisProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.embedded.RedisSentinel;

/** Counts are kept in the Redis that the application is connected to. */
@ExtendWith(OutputCaptureExtension.class)
class RedisWiringTest {

    private static final Subject ALICE = Subject.user("alice");

    private static RunningRedis redis;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() throws IOException {
        redis = RunningRedis.start();
    }

    @AfterAll
    static void stop() throws IOException {
        redis.close();
    }

    private static long remaining(ApplicationContext context) {
        return context.getBean(RateLimiter.class).decide(ALICE, "calls").remaining();
    }

    private static String storeName(ApplicationContext context) {
        return context.getBean(Operations.class).status().store().name();
    }

    @Test
    void redisIsChosenWithoutBeingNamedAndSharedByInstances(CapturedOutput output) {
        redis.ask(commands -> commands.flushall());
        Application.with(folder, redis.properties()).run(one -> {
            assertThat(one).hasNotFailed();
            assertThat(remaining(one)).isEqualTo(9);
            Application.with(folder, redis.properties())
                    .run(two -> assertThat(remaining(two)).isEqualTo(8));
            assertThat(storeName(one)).isEqualTo("Redis at localhost:" + redis.port());
            assertThat(one.getBean("ratelimitHealthIndicator", HealthIndicator.class)
                            .health()
                            .getDetails())
                    .containsEntry("place", "Redis at localhost:" + redis.port());
        });
        assertThat(output)
                .contains("Keeping rate limits in Redis at localhost:" + redis.port())
                .contains("Taking limits and rules from the configuration alone");
        assertThat(redis.keys()).singleElement().asString().startsWith("rl:{").contains("alice", "calls");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void databaseAndPrefixAreThoseOfTheConfiguration() {
        redis.ask(commands -> commands.flushall());
        Application.with(folder, redis.properties())
                .withPropertyValues(
                        "spring.data.redis.database=3",
                        "ratelimit.store.redis.key-prefix=orders:",
                        "ratelimit.store.type=redis")
                .run(context -> {
                    assertThat(remaining(context)).isEqualTo(9);
                    assertThat(storeName(context)).isEqualTo("Redis at localhost:" + redis.port() + ", database 3");
                });
        assertThat(redis.keys()).isEmpty();
        List<String> inThird = redis.ask(commands -> {
            commands.select(3);
            return commands.keys("*");
        });
        assertThat(inThird).singleElement().asString().startsWith("orders:{");
    }

    @Test
    void connectionIsOurOwnAndEndsWithTheApplication() {
        Application.with(folder, redis.properties())
                .withPropertyValues("spring.data.redis.client-name=shop")
                .run(context -> {
                    remaining(context);
                    assertThat(clients()).hasSize(1);
                    context.getBean(LettuceConnectionFactory.class)
                            .getConnection()
                            .ping();
                    assertThat(clients()).hasSize(2);
                });
        await().untilAsserted(() -> assertThat(clients()).isEmpty());
    }

    private static List<String> clients() {
        return redis.ask(commands -> commands.clientList())
                .lines()
                .filter(line -> line.contains("name=shop"))
                .toList();
    }

    /** A connection factory that the application made by itself shares no threads with the limiter. */
    @Test
    void threadsEndWithTheApplication() {
        Set<Thread> before = lettuceThreads();
        Application.withoutSpringDataRedis(folder)
                .withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("localhost", redis.port()))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(remaining(context)).isNotNegative();
                    assertThat(lettuceThreads()).isNotEqualTo(before);
                });

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(lettuceThreads()).isSubsetOf(before));
    }

    private static Set<Thread> lettuceThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("lettuce-"))
                .collect(Collectors.toSet());
    }

    /** These are all the rights that the documentation names. */
    @Test
    void userWithFewRightsIsEnough() throws IOException {
        try (RunningRedis restricted = RunningRedis.start("user limiter on >secret ~rl:* "
                + "+eval +evalsha +time +mget +exists +set +del +wait +info +hello +auth +client +ping")) {
            Application.with(folder, restricted.properties())
                    .withPropertyValues(
                            "spring.data.redis.username=limiter",
                            "spring.data.redis.password=secret",
                            "ratelimit.on-failure=closed") // a local decision would look the same
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        for (int i = 9; i >= 0; i--) {
                            assertThat(remaining(context)).isEqualTo(i);
                        }
                    });
            assertThat(restricted.keys())
                    .as("the check at startup leaves nothing")
                    .hasSize(1);
        }
    }

    /** The time is that of the server. */
    @Test
    void clockOfThisMachineMayBeHoursBehindThatOfTheServer() throws IOException {
        Path offset = Files.writeString(folder.resolve("offset"), "+7200");
        try (RedisProcess ahead = RedisProcess.start(AnotherClock.in(offset))) {
            Application.with(
                            folder,
                            "spring.data.redis.host=127.0.0.1",
                            "spring.data.redis.port=" + ahead.port(),
                            "ratelimit.on-failure=closed") // a local decision would look the same
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(remaining(context)).isEqualTo(9);
                    });
        }
    }

    @Test
    void redisMayComeAfterTheStart(CapturedOutput output) throws IOException {
        int port = Ports.free();
        Application.with(folder, "spring.data.redis.port=" + port, "ratelimit.store.required=false")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(output).contains("Starting without the rate limit store");
                    StoreRateLimiter limiter = context.getBean(StoreRateLimiter.class);
                    assertThat(limiter.probe().store().available()).isFalse();
                    try (RunningRedis late = RunningRedis.start(port)) {
                        await().atMost(Duration.ofSeconds(30))
                                .until(() -> limiter.probe().store().available()
                                        && limiter.decide(ALICE, "calls").outcome() == Outcome.ALLOWED);
                        assertThat(late.keys()).isNotEmpty();
                    }
                });
    }

    @Test
    void clusterKeepsCounts() throws IOException {
        try (RunningCluster cluster = RunningCluster.start()) {
            int port = cluster.ports().get(0);
            Application.with(folder, cluster.property()).run(context -> {
                assertThat(context).hasNotFailed();
                RateLimiter limiter = context.getBean(RateLimiter.class);
                for (int i = 0; i < 30; i++) {
                    assertThat(limiter.decide(Subject.user("user" + i), "calls").remaining())
                            .isEqualTo(9);
                }
                assertThat(storeName(context)).isEqualTo("the Redis Cluster at localhost:" + port);
            });
            assertThat(cluster.ports())
                    .allSatisfy(node -> assertThat(RunningRedis.size(node)).isPositive());
        }
    }

    @Test
    void clusterKeepsCountsWithoutAMasterThatIsDownAtTheStart(CapturedOutput output) throws IOException {
        try (RunningCluster cluster = RunningCluster.start()) {
            int down = cluster.ports().get(2);
            cluster.end(down);
            WebApplicationContextRunner application =
                    Application.with(folder, cluster.property(), "ratelimit.on-failure=closed");

            application.run(context -> assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining(":" + down + " is unreachable: Connection refused"));
            application.withPropertyValues("ratelimit.store.required=false").run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(output).contains("Starting without a master of the Redis Cluster");
                RateLimiter limiter = context.getBean(RateLimiter.class);
                Set<Outcome> outcomes = IntStream.range(0, 60)
                        .mapToObj(i -> limiter.decide(Subject.user("user" + i), "calls")
                                .outcome())
                        .collect(Collectors.toSet());
                assertThat(outcomes)
                        .as("of the subjects of all masters")
                        .containsExactlyInAnyOrder(Outcome.ALLOWED, Outcome.FAILED);
            });
        }
    }

    @Test
    void masterOfSentinelKeepsCounts() throws IOException {
        int port = Ports.free();
        try (RunningRedis master = RunningRedis.start()) {
            RedisSentinel sentinel = RedisSentinel.newRedisSentinel()
                    .port(port)
                    .masterName("main")
                    .masterPort(master.port())
                    .quorumSize(1)
                    .build();
            sentinel.start();
            try {
                Application.with(
                                folder,
                                "spring.data.redis.sentinel.nodes=localhost:" + port,
                                "spring.data.redis.sentinel.master=main")
                        .run(context -> {
                            assertThat(context).hasNotFailed();
                            assertThat(remaining(context)).isEqualTo(9);
                            assertThat(storeName(context))
                                    .isEqualTo("the Redis master main of the Sentinels at localhost:" + port);
                        });
                assertThat(master.keys()).hasSize(1);
            } finally {
                sentinel.stop();
            }
        }
    }
}
