package dev.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** The move of an application from a database to Redis, or back, with two instances of it. */
class RedisMoveTest {

    private static final Subject ALICE = Subject.user("alice");

    /** The limit {@code calls} of {@link Application}. */
    private static final int MOST = 10;

    private static RunningRedis redis;

    private final String schema = TestPostgres.instance().freshSchema();

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

    @BeforeEach
    void empty() {
        String unused = redis.ask(commands -> commands.flushall());
    }

    private WebApplicationContextRunner on(String type) {
        return Application.with(folder, redis.properties())
                .withPropertyValues(
                        "ratelimit.store.type=" + type,
                        "ratelimit.store.postgresql.url="
                                + TestPostgres.instance().jdbcUrl(),
                        "ratelimit.store.postgresql.schema=" + schema);
    }

    private WebApplicationContextRunner moving(String before, String after) {
        return on(after).withPropertyValues("ratelimit.store.previous.type=" + before);
    }

    private static int admitted(ApplicationContext context, int requests) {
        RateLimiter limiter = context.getBean(RateLimiter.class);
        return (int) IntStream.range(0, requests)
                .mapToObj(i -> limiter.decide(ALICE, "calls"))
                .filter(Decision::allowed)
                .count();
    }

    /** By two instances that are asked at the same time. */
    private static int admittedTogether(ApplicationContext one, ApplicationContext other) {
        List<RateLimiter> instances = List.of(one.getBean(RateLimiter.class), other.getBean(RateLimiter.class));
        AtomicInteger admitted = new AtomicInteger();
        CompletableFuture.allOf(IntStream.range(0, 60)
                        .mapToObj(i -> instances
                                .get(i % 2)
                                .decideAsync(LimitRequest.of(ALICE, "calls"))
                                .thenAccept(decision -> admitted.addAndGet(decision.allowed() ? 1 : 0)))
                        .toArray(CompletableFuture[]::new))
                .join();
        return admitted.get();
    }

    /** One instance after the other is replaced: first both are old, then one, then none. */
    @ParameterizedTest
    @CsvSource({"postgresql, redis", "sqlite, redis", "redis, postgresql"})
    void instancesReplacedOneAfterTheOtherGiveNobodyAFreshLimit(String before, String after) {
        AtomicInteger admitted = new AtomicInteger();
        on(before).run(old -> {
            assertThat(old).hasNotFailed();
            admitted.addAndGet(admitted(old, 3));
            moving(before, after).run(moving -> {
                assertThat(moving).hasNotFailed();
                admitted.addAndGet(admitted(moving, 2));
                assertThat(redis.keys()).as("counted in Redis").hasSize(1);
                admitted.addAndGet(admittedTogether(old, moving));
            });
        });
        assertThat(admitted).hasValue(MOST);

        moving(before, after)
                .run(one -> moving(before, after).run(two -> {
                    assertThat(admittedTogether(one, two)).isZero();
                }));
    }

    /** Some instances have left the previous store, others still count in both. */
    @ParameterizedTest
    @CsvSource({"postgresql, redis", "sqlite, redis", "redis, postgresql"})
    void instancesThatLeaveThePreviousStoreGiveNobodyAFreshLimit(String before, String after) {
        moving(before, after).run(moving -> {
            assertThat(admitted(moving, 4)).isEqualTo(4);
            on(after).run(moved -> {
                assertThat(moved).hasNotFailed();
                assertThat(admittedTogether(moving, moved)).isEqualTo(MOST - 4);
            });
        });
        on(after)
                .run(one -> on(after).run(two -> {
                    assertThat(admittedTogether(one, two)).isZero();
                }));
    }
}
