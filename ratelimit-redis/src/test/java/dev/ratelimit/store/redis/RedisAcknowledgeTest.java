package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** {@code acknowledge: replica} on a master without a replica, as after a failover to the only one. */
class RedisAcknowledgeTest {

    private static final Subject ALICE = Subject.user("alice");

    private static final RedisOptions ACKNOWLEDGED =
            RedisOptions.DEFAULT.withDeadline(Duration.ofSeconds(1)).withAcknowledge(Acknowledge.REPLICA);

    private final Limit limit = Instance.atMost("calls", 3);

    @Test
    void requestsFollowOnFailureUntilAReplicaIsBack() {
        try (RedisProcess master = RedisProcess.start();
                Instance instance = Instance.on(master, ACKNOWLEDGED)) {
            assertThat(instance.decide(ALICE, limit).outcome()).as("closed").isEqualTo(Outcome.FAILED);
            LimitRequest local = LimitRequest.of(Subject.user("bob"), limit).onFailure(FailurePolicy.LOCAL);
            for (int i = 0; i < 3; i++) {
                assertThat(instance.limiter.decide(local).allowed()).as("local").isTrue();
            }
            assertThat(instance.limiter.decide(local).allowed())
                    .as("local, beyond the limit")
                    .isFalse();

            try (RedisProcess replica = RedisProcess.start("replicaof 127.0.0.1 " + master.port())) {
                Subject carol = Subject.user("carol");
                Awaitility.await()
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> instance.decide(carol, limit).outcome() != Outcome.FAILED);
                long keys = replica.call(redis -> redis.dbsize());
                assertThat(keys).isPositive();
            }
        }
    }

    @Test
    void decisionThatNoReplicaHasIsNotAllowedThoughItIsWritten() {
        AtomicReference<HeldUpServers> held = new AtomicReference<>();
        try (RedisProcess master = RedisProcess.start();
                Instance instance = Instance.on(master, ACKNOWLEDGED, servers -> {
                    held.set(new HeldUpServers(servers));
                    return held.get();
                })) {
            assertThat(instance.used(ALICE, limit))
                    .as("the server has the script")
                    .isZero();
            held.get().before("rl:{user:alice}:calls", () -> {
                throw new HeldUpServers.NoReplicaException();
            });

            Decision decision = instance.decide(ALICE, limit);
            assertThat(decision.outcome()).isEqualTo(Outcome.FAILED);
            assertThat(decision.failure()).hasMessageContaining("no replica has acknowledged the decision in time");
            assertThat(instance.used(ALICE, limit)).as("the safe side").isEqualTo(1);
        }
    }
}
