package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.TokenBucket;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three instances share limits to the last request, whatever is done to the scripts and slots of their servers. */
class RedisInstancesTest {

    private static final int INSTANCES = 3;

    /** Shorter than the longest pauses between swaps, and longer than a call. */
    private static final Duration LONG_PAUSE = Duration.ofMillis(3);

    private final List<Instance> instances = new ArrayList<>();

    private void start(boolean inACluster) throws Exception {
        if (inACluster) {
            for (RedisProcess master : TestRedis.cluster().masters()) {
                master.call(redis -> redis.flushall());
            }
        } else {
            TestRedis.single().call(redis -> redis.flushall());
        }
        for (int i = 0; i < INSTANCES; i++) {
            instances.add(
                    inACluster
                            ? Instance.on(TestRedis.cluster(), Instance.PATIENT)
                            : Instance.on(TestRedis.single(), Instance.PATIENT));
        }
    }

    @AfterEach
    void close() {
        instances.forEach(Instance::close);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void threeInstancesAdmitExactlyTheLimit(boolean inACluster) throws Exception {
        start(inACluster);
        List<Limit> limits = List.of(
                Instance.atMost("fixed", 200),
                Limit.named("log").algorithm(new SlidingLog(200, Instance.AGES)).build(),
                Limit.named("bucket")
                        .algorithm(new TokenBucket(200, Rate.of(1, Instance.AGES)))
                        .build());
        for (Limit limit : limits) {
            AtomicInteger admitted = new AtomicInteger();
            try (Load load = Load.start(instances, 4, instance -> {
                Decision decision = instance.decide(Subject.user("everybody"), limit);
                assertThat(decision.outcome().isDecided()).isTrue();
                if (decision.allowed()) {
                    admitted.incrementAndGet();
                }
                return decision.allowed();
            })) {
                load.await();
            }

            assertThat(admitted).as(limit.name()).hasValue(200);
            assertThat(instances.get(0).used(Subject.user("everybody"), limit)).isEqualTo(200);
        }
    }

    /** The value that a lost swap returns is old after a pause, if another instance writes without any. */
    @Test
    void instanceThatWritesDuringEveryPauseKeepsNoOtherOut() throws Exception {
        start(false);
        Subject hot = Subject.user("hot");
        Limit limit = Instance.atMost("hot", 1_000_000);
        Instance busy = instances.get(0);
        AtomicInteger sent = new AtomicInteger();
        AtomicLong lastSent = new AtomicLong();
        AtomicReference<HeldUpServers> held = new AtomicReference<>();
        try (Instance other = Instance.on(TestRedis.single(), Instance.PATIENT, servers -> {
            held.set(new HeldUpServers(servers));
            return held.get();
        })) {
            for (int i = 0; i < 10_000; i++) {
                held.get().before("rl:{user:hot}:hot", () -> {
                    boolean paused = System.nanoTime() - lastSent.get() > LONG_PAUSE.toNanos();
                    // After that many losses, every pause is a long one.
                    if (sent.incrementAndGet() <= 14 || paused) {
                        assertThat(busy.isAllowed(hot, limit)).isTrue();
                    }
                    lastSent.set(System.nanoTime());
                    return true;
                });
            }

            assertThat(other.isAllowed(hot, limit)).isTrue();
        }
    }

    /** All servers, or only one: the others still know the script. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void flushedScriptsFailNothing(int masters) throws Exception {
        start(masters > 0);
        List<Subject> subjects = List.of(Subject.user("a"), Subject.user("b"), Subject.user("c"), Subject.user("d"));
        Limit limit = Instance.atMost("flushed", 300);
        AtomicIntegerArray admitted = new AtomicIntegerArray(subjects.size());
        try (Load load = Load.start(instances, 2, instance -> {
            boolean any = false;
            for (int i = 0; i < subjects.size(); i++) {
                Decision decision = instance.decide(subjects.get(i), limit);
                assertThat(decision.outcome().isDecided())
                        .as("%s", decision.failure())
                        .isTrue();
                if (decision.allowed()) {
                    admitted.incrementAndGet(i);
                    any = true;
                }
            }
            return any;
        })) {
            List<RedisProcess> flushed = masters == 0
                    ? List.of(TestRedis.single())
                    : TestRedis.cluster().masters().subList(0, masters);
            for (int i = 0; i < 5 && !load.isDone(); i++) {
                flushed.forEach(server -> server.call(redis -> redis.scriptFlush()));
                LockSupport.parkNanos(10_000_000);
            }
            load.await();
        }

        for (int i = 0; i < subjects.size(); i++) {
            assertThat(admitted.get(i)).isEqualTo(300);
            assertThat(instances.get(0).used(subjects.get(i), limit)).isEqualTo(300);
        }
    }

    /** User and address are in different slots, and some limits are used up before others. */
    @Test
    void userAndAddressAreChargedForExactlyWhatWasAdmitted() throws Exception {
        start(true);
        UsersAndAddresses requests = new UsersAndAddresses();
        try (Load load = Load.start(instances, 4, requests::ask)) {
            load.await();
        }

        assertThat(requests.failed()).isZero();
        Awaitility.await().untilAsserted(() -> requests.assertCharged(instances.get(0), 0));
    }

    /** Connections that are cut leave at most a charge for each request that failed. */
    @Test
    void cutConnectionsLeaveAtMostAChargeForEachFailedRequest() throws Exception {
        start(true);
        UsersAndAddresses requests = new UsersAndAddresses();
        try (Load load = Load.start(instances, 4, requests::ask)) {
            for (int i = 0; i < 5 && !load.isDone(); i++) {
                RedisProcess master = TestRedis.cluster()
                        .masters()
                        .get(i % TestRedis.cluster().masters().size());
                master.call(
                        redis -> redis.clientKill(KillArgs.Builder.typeNormal().skipme()));
                LockSupport.parkNanos(30_000_000);
            }
            load.await();
        }

        int failed = requests.failed();
        assertThat(failed).as("requests whose connection was cut").isPositive();
        Awaitility.await().ignoreExceptions().untilAsserted(() -> requests.assertCharged(instances.get(0), failed));
    }
}
