package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.redis.Ports;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.embedded.RedisSentinel;

/** The machine of a master loses power: its connections stay open, and say nothing. */
@Timeout(120)
class RedisSentinelTest {

    private static final Logger log = LoggerFactory.getLogger(RedisSentinelTest.class);

    private static final Subject ALICE = Subject.user("alice");

    private final Limit limit = Instance.atMost("api", 1_000_000);

    @Test
    void silentMasterIsLeftForTheOneThatSentinelHasPromoted() throws Exception {
        RedisOptions options = RedisOptions.DEFAULT.withDeadline(Duration.ofMillis(500));
        try (RedisProcess master = RedisProcess.start();
                RedisProcess replica = RedisProcess.start("replicaof 127.0.0.1 " + master.port())) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() ->
                            replica.call(redis -> redis.info("replication")).contains("master_link_status:up"));
            int port = Ports.free();
            RedisSentinel sentinel = RedisSentinel.newRedisSentinel()
                    .port(port)
                    .masterName("main")
                    .masterPort(master.port())
                    .quorumSize(1)
                    .downAfterMilliseconds(1_000)
                    .failOverTimeout(5_000)
                    .build();
            sentinel.start();
            RedisURI address = RedisURI.Builder.sentinel("127.0.0.1", port, "main")
                    .withTimeout(Duration.ofSeconds(2))
                    .build();
            try (Instance instance = Instance.on(address, options)) {
                assertThat(instance.decide(ALICE, limit).allowed()).isTrue();
                Awaitility.await()
                        .atMost(Duration.ofSeconds(30))
                        .until(() -> RedisProcess.call(
                                        RedisURI.create("127.0.0.1", port), redis -> redis.info("sentinel"))
                                .contains("slaves=1"));
                master.pause();
                long paused = System.nanoTime();
                try {
                    // TCP would give up after about 15 minutes.
                    Awaitility.await()
                            .atMost(Duration.ofSeconds(60))
                            .until(() -> instance.decide(ALICE, limit).allowed());
                } finally {
                    master.resume();
                }
                log.info("Decided by the new master after {} ms", (System.nanoTime() - paused) / 1_000_000);
            } finally {
                sentinel.stop();
            }
            long kept = replica.call(redis -> redis.exists("rl:{user:alice}:api"));
            assertThat(kept).isOne();
        }
    }
}
