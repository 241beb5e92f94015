package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.store.LimitStoreException;
import io.lettuce.core.KillArgs;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A cluster of three masters, each with a replica, that loses one master after another. */
@Timeout(60)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RedisFailoverTest {

    private static final Logger log = LoggerFactory.getLogger(RedisFailoverTest.class);

    private static final RedisOptions OPTIONS = RedisOptions.DEFAULT.withDeadline(Duration.ofSeconds(1));

    private static final RedisOptions ACKNOWLEDGED = OPTIONS.withAcknowledge(Acknowledge.REPLICA);

    private static RedisProcessCluster cluster;

    @BeforeAll
    static void start() throws Exception {
        cluster = RedisProcessCluster.start(3, 1, "cluster-require-full-coverage no", "repl-ping-replica-period 1");
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    /** A subject on the master with that number, as the slots were given at the start. */
    private static Subject on(int master, String name) {
        for (int i = 0; ; i++) {
            Subject subject = Subject.user(name + i);
            if (SlotHash.getSlot("{" + subject.text() + "}") * 3 / SlotHash.SLOT_COUNT == master) {
                return subject;
            }
        }
    }

    /** Prints the figures of docs/redis.md. */
    @Test
    @Order(1)
    void acknowledgementOfAReplicaIsMeasured() {
        Subject subject = on(0, "measured");
        Limit limit = Instance.atMost("measured", 1_000_000);
        try (Instance master = Instance.on(cluster, OPTIONS);
                Instance replica = Instance.on(cluster, ACKNOWLEDGED)) {
            int each = 300;
            long[] nanos = new long[2];
            for (int turn = 0; turn < 3; turn++) {
                nanos[0] = decisions(master, subject, limit, each);
                nanos[1] = decisions(replica, subject, limit, each);
            }

            log.info(
                    "One decision after another: {} µs with acknowledge: master, {} µs with acknowledge: replica",
                    nanos[0] / each / 1_000,
                    nanos[1] / each / 1_000);
            assertThat(master.used(subject, limit)).isEqualTo(6 * each);
        }
    }

    private static long decisions(Instance instance, Subject subject, Limit limit, int number) {
        long start = System.nanoTime();
        for (int i = 0; i < number; i++) {
            assertThat(instance.isAllowed(subject, limit)).isTrue();
        }
        return System.nanoTime() - start;
    }

    /** Its own subjects fail until a replica has taken over. No other subject notices, and nothing is lost. */
    @Test
    @Order(2)
    void killedMasterFailsOnlyItsOwnSubjectsAndLosesNothingThatAReplicaHas() throws Exception {
        Limit limit = Instance.atMost("failover", 200);
        Limit endless = Instance.atMost("endless", 1_000_000);
        Subject down = on(0, "down");
        AtomicInteger admitted = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        AtomicInteger othersFailed = new AtomicInteger();
        AtomicInteger othersWhileDown = new AtomicInteger();
        AtomicLong back = new AtomicLong();
        try (Instance acknowledged = Instance.on(cluster, ACKNOWLEDGED);
                Instance a = Instance.on(cluster, OPTIONS);
                Instance b = Instance.on(cluster, OPTIONS);
                Load unaffected = Load.start(List.of(a, b), 1, instance -> {
                    for (int master = 1; master < 3; master++) {
                        Decision decision = instance.decide(on(master, "up"), endless);
                        if (!decision.allowed()) {
                            log.info("Failed: {}", decision);
                            othersFailed.incrementAndGet();
                        } else if (failed.get() > 0) {
                            othersWhileDown.incrementAndGet();
                        }
                    }
                    return true;
                })) {
            for (int i = 0; i < 50; i++) {
                assertThat(acknowledged.isAllowed(down, limit)).isTrue();
                admitted.incrementAndGet();
            }
            cluster.masters().get(0).kill();
            long killed = System.nanoTime();
            try (Load load = Load.start(List.of(a, b), 2, instance -> {
                Decision decision = instance.decide(down, limit);
                if (decision.outcome() == Outcome.FAILED) {
                    failed.incrementAndGet();
                } else if (decision.allowed()) {
                    back.compareAndSet(0, System.nanoTime());
                    admitted.incrementAndGet();
                }
                return decision.outcome() == Outcome.FAILED || decision.allowed();
            })) {
                load.await();
            }
            unaffected.stop();
            Duration pause = Duration.ofNanos(back.get() - killed);
            log.info("A replica had taken over after {} ms", pause.toMillis());

            assertThat(failed).as("failed requests of the killed master").hasPositiveValue();
            assertThat(pause)
                    .as("with a cluster-node-timeout of a second, on a busy machine")
                    .isLessThan(Duration.ofSeconds(30));
            assertThat(othersFailed).as("failed requests of other masters").hasValue(0);
            assertThat(othersWhileDown)
                    .as("decisions of other masters meanwhile")
                    .hasPositiveValue();
            assertThat(a.used(down, limit)).isEqualTo(200);
            assertThat(admitted.get())
                    .as("admitted; a charge may be left by a request that failed")
                    .isLessThanOrEqualTo(200)
                    .isGreaterThanOrEqualTo(50);
        }
    }

    /** Without its replica, a master may lose all that it admitted alone; with an acknowledgement it admits nothing alone. */
    @Test
    @Order(3)
    void masterThatIsCutOffFromItsReplicaLosesWhatItAdmittedAlone() throws Exception {
        Limit limit = Instance.atMost("cut-off", 100);
        Subject subject = on(1, "cut");
        RedisProcess master = cluster.masters().get(1);
        RedisProcess replica = cluster.replicas(1).get(0);
        try (Instance alone = Instance.on(cluster, OPTIONS);
                Instance acknowledged = Instance.on(cluster, ACKNOWLEDGED)) {
            for (int i = 0; i < 30; i++) {
                assertThat(acknowledged.isAllowed(subject, limit)).isTrue();
            }
            replica.pause();
            master.call(redis -> redis.clientKill(KillArgs.Builder.typeSlave()));
            for (int i = 0; i < 20; i++) {
                assertThat(alone.isAllowed(subject, limit)).isTrue();
            }
            assertThatThrownBy(() -> acknowledged.isAllowed(subject, limit))
                    .isInstanceOf(LimitStoreException.class)
                    .hasMessageMatching(".*(no replica has acknowledged the decision in time|no answer in time).*");
            assertThat(acknowledged.decide(subject, limit).outcome()).isEqualTo(Outcome.FAILED);
            master.kill();
            replica.resume();

            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> alone.decide(subject, limit).allowed());

            assertThat(alone.used(subject, limit))
                    .as("the 30 that the replica had, and the one after")
                    .isBetween(31L, 32L);
        }
    }
}
