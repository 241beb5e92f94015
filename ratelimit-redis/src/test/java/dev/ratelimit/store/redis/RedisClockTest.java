package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import io.lettuce.core.cluster.SlotHash;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The clock of a server is set back or ahead: limits go by that clock, and a jump grants nothing extra. */
@Timeout(60)
class RedisClockTest {

    private static final Subject ALICE = Subject.user("alice");

    private final Limit hourly = Limit.named("hourly")
            .algorithm(new SlidingLog(5, Duration.ofHours(1)))
            .build();

    /** The state was written by a server that was ahead, as after a failover to a server whose clock is right. */
    @Test
    void clockThatIsBehindTheStateForgetsNothing() {
        TestRedis.single().call(redis -> redis.flushall());
        RedisOptions ahead = Instance.PATIENT.withClock(() -> Instant.now().plus(Duration.ofMinutes(10)));
        try (Instance before = Instance.on(TestRedis.single(), ahead);
                Instance after = Instance.on(TestRedis.single(), Instance.PATIENT)) {
            for (int i = 0; i < 3; i++) {
                assertThat(before.isAllowed(ALICE, hourly)).isTrue();
            }

            assertThat(after.used(ALICE, hourly)).isEqualTo(3);
            assertThat(after.isAllowed(ALICE, hourly)).isTrue();
            assertThat(after.isAllowed(ALICE, hourly)).isTrue();
            assertThat(after.isAllowed(ALICE, hourly)).isFalse();
        }
    }

    @Test
    void serverWhoseClockJumpsIsFollowed(@TempDir Path folder) throws Exception {
        Path offset = Files.writeString(folder.resolve("offset"), "+0");
        Map<String, String> environment = AnotherClock.in(offset);
        Limit window = Limit.named("window")
                .algorithm(new FixedWindow(5, Duration.ofHours(1)))
                .build();
        try (RedisProcess server = RedisProcess.start(environment);
                Instance instance = Instance.on(server, Instance.PATIENT)) {
            for (int i = 0; i < 5; i++) {
                assertThat(instance.isAllowed(ALICE, hourly)).isTrue();
            }
            assertThat(instance.isAllowed(ALICE, window)).isTrue();
            long before = micros(server);

            Files.writeString(offset, "-600");
            assertThat(micros(server)).as("the clock of the server").isLessThan(before);
            assertThat(instance.isAllowed(ALICE, hourly)).as("set back").isFalse();
            assertThat(instance.isAllowed(Subject.user("bob"), hourly)).isTrue();

            Files.writeString(offset, "+600");
            assertThat(instance.isAllowed(ALICE, hourly)).as("set ahead").isFalse();
            assertThat(instance.used(Subject.user("bob"), hourly)).isEqualTo(1);

            Files.writeString(offset, "+7500");
            assertThat(instance.isAllowed(ALICE, hourly))
                    .as("after more than an hour of that clock")
                    .isTrue();
            assertThat(instance.used(ALICE, window)).isZero();
        }
    }

    /** A joint decision has one moment, which both servers must accept. */
    @Test
    void serversWithClocksApartFailRequestsOverBothAndNoOthers(@TempDir Path folder) throws Exception {
        Path offset = Files.writeString(folder.resolve("offset"), "+5");
        Limit limit = Instance.atMost("calls", 1_000);
        try (RedisProcessCluster cluster = RedisProcessCluster.startIn(List.of(Map.of(), AnotherClock.in(offset)));
                Instance instance = Instance.on(cluster, RedisOptions.DEFAULT.withDeadline(Duration.ofSeconds(1)))) {
            Subject first = on(0, 2);
            Subject second = on(1, 2);
            LimitRequest both = LimitRequest.of(first, limit).and(second, limit);

            assertThat(instance.isAllowed(first, limit)).isTrue();
            assertThat(instance.isAllowed(second, limit)).isTrue();
            for (int i = 0; i < 3; i++) {
                assertThat(instance.decide(both).outcome()).isEqualTo(Outcome.FAILED);
            }
            assertThat(catchThrowable(() -> instance.store.decide(List.of(new Operation(
                            Kind.DECIDE, List.of(new Demand(first, limit, 1), new Demand(second, limit, 1)))))))
                    .isInstanceOf(LimitStoreException.class)
                    .hasMessageContaining("the server refused the moment of the decision");

            Files.writeString(offset, "+0");

            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> instance.decide(both).outcome() == Outcome.ALLOWED);
        }
    }

    /** A subject on one of that many masters. */
    private static Subject on(int master, int masters) {
        for (int i = 0; ; i++) {
            Subject subject = Subject.user("user" + i);
            if (SlotHash.getSlot("{" + subject.text() + "}") * masters / SlotHash.SLOT_COUNT == master) {
                return subject;
            }
        }
    }

    private static long micros(RedisProcess server) {
        return server.call(redis -> {
            List<String> time = redis.time();
            return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
        });
    }
}
