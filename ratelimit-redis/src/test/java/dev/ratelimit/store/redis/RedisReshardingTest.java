package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Slots move from one server to another while three instances ask: no request fails, and each is counted once. */
@Timeout(90)
class RedisReshardingTest {

    private static final int PERMITS = 400;

    private final Limit fast = Instance.atMost("fast", PERMITS);
    private final Limit slow = Instance.atMost("slow", PERMITS);

    /** The second one is in the slot of the first one. */
    private final List<Subject> subjects = subjects();

    private static List<Subject> subjects() {
        Subject first = Subject.user("moving");
        for (int i = 0; ; i++) {
            Subject second = Subject.user("neighbour" + i);
            if (slot(second) == slot(first)) {
                return List.of(first, second, Subject.user("staying"));
            }
        }
    }

    private static int slot(Subject subject) {
        return SlotHash.getSlot("{" + subject.text() + "}");
    }

    @Test
    void requestsAreExactWhileTheirSlotMoves() throws Exception {
        RedisProcessCluster cluster = TestRedis.cluster();
        for (RedisProcess master : cluster.masters()) {
            master.call(redis -> redis.flushall());
        }
        moveUnderLoad(cluster, Instance.PATIENT);
    }

    @Test
    void acknowledgedRequestsAreExactWhileTheirSlotMoves() throws Exception {
        try (RedisProcessCluster cluster = RedisProcessCluster.start(3, 1, "repl-ping-replica-period 1")) {
            moveUnderLoad(cluster, Instance.PATIENT.withAcknowledge(Acknowledge.REPLICA));
        }
    }

    /** The client does not follow by itself where a replica has to acknowledge the decision. */
    @Test
    void acknowledgedRequestFollowsAKeyWhoseSlotIsStillOnTheWay() throws Exception {
        Subject moving = subjects.get(0);
        RedisOptions acknowledged =
                RedisOptions.DEFAULT.withDeadline(Duration.ofSeconds(5)).withAcknowledge(Acknowledge.REPLICA);
        try (RedisProcessCluster cluster = RedisProcessCluster.start(2, 1, "repl-ping-replica-period 1");
                Instance instance = Instance.on(cluster, acknowledged)) {
            assertThat(instance.isAllowed(moving, fast)).isTrue();
            int slot = slot(moving);
            int home = slot * cluster.masters().size() / SlotHash.SLOT_COUNT;
            RedisProcess source = cluster.masters().get(home);
            RedisProcess target = cluster.masters().get(1 - home);
            begin(slot, source, target);
            source.call(redis -> redis.migrate("127.0.0.1", target.port(), "rl:{user:moving}:fast", 0, 5_000));

            assertThat(instance.isAllowed(moving, fast)).isTrue();
            assertThat(instance.used(moving, fast)).isEqualTo(2);
            long left = source.call(redis -> redis.dbsize());
            assertThat(left).as("keys on the server that it leaves").isZero();
        }
    }

    private void moveUnderLoad(RedisProcessCluster cluster, RedisOptions options) throws Exception {
        int slot = slot(subjects.get(0));
        int home = slot * cluster.masters().size() / SlotHash.SLOT_COUNT;
        AtomicIntegerArray admitted = new AtomicIntegerArray(subjects.size());
        List<Instance> instances = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                instances.add(Instance.on(cluster, options));
            }
            try (Load load = Load.start(instances, 2, instance -> ask(instance, admitted))) {
                int at = home;
                for (int i = 0; i < 3; i++) {
                    int to = (at + 1) % cluster.masters().size();
                    move(cluster, slot, at, to);
                    at = to;
                }
                assertThat(at).isEqualTo(home);
                load.await();
            }
            for (int i = 0; i < subjects.size(); i++) {
                assertThat(admitted.get(i))
                        .as("admitted for %s", subjects.get(i))
                        .isEqualTo(PERMITS);
                assertThat(instances.get(0).used(subjects.get(i), fast)).isEqualTo(PERMITS);
                assertThat(instances.get(0).used(subjects.get(i), slow)).isEqualTo(PERMITS);
            }
        } finally {
            instances.forEach(Instance::close);
        }
    }

    /** Two limits of one subject: keys that must be on the same server to be decided. */
    private boolean ask(Instance instance, AtomicIntegerArray admitted) {
        boolean any = false;
        for (int i = 0; i < subjects.size(); i++) {
            Decision decision =
                    instance.decide(LimitRequest.of(subjects.get(i), fast).and(subjects.get(i), slow));
            assertThat(decision.outcome().isDecided())
                    .as("%s", decision.failure())
                    .isTrue();
            if (decision.allowed()) {
                admitted.incrementAndGet(i);
                any = true;
            }
        }
        return any;
    }

    /** As redis-cli --cluster reshard does it, with a pause after each key. */
    private static void move(RedisProcessCluster cluster, int slot, int from, int to) {
        RedisProcess source = cluster.masters().get(from);
        RedisProcess target = cluster.masters().get(to);
        begin(slot, source, target);
        for (int moved = 0; ; ) {
            List<String> keys = source.call(redis -> redis.clusterGetKeysInSlot(slot, 10));
            if (keys.isEmpty()) {
                assertThat(moved).as("keys that were moved").isPositive();
                break;
            }
            for (String key : keys) {
                source.call(redis -> redis.migrate("127.0.0.1", target.port(), key, 0, 5_000));
                LockSupport.parkNanos(10_000_000);
                moved++;
            }
        }
        String targetId = target.call(redis -> redis.clusterMyId());
        target.call(redis -> redis.clusterSetSlotNode(slot, targetId));
        source.call(redis -> redis.clusterSetSlotNode(slot, targetId));
    }

    private static void begin(int slot, RedisProcess source, RedisProcess target) {
        String sourceId = source.call(redis -> redis.clusterMyId());
        String targetId = target.call(redis -> redis.clusterMyId());
        target.call(redis -> redis.clusterSetSlotImporting(slot, sourceId));
        source.call(redis -> redis.clusterSetSlotMigrating(slot, targetId));
    }
}
