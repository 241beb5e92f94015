package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Three processes that share a server, then a cluster, share its limits to the last request. */
@Timeout(90)
class RedisProcessesTest {

    private static final Logger log = LoggerFactory.getLogger(RedisProcessesTest.class);

    private static final int PROCESSES = 3;

    @Test
    void threeProcessesAdmitExactlyTheLimit() throws Exception {
        List<String> ports = new ArrayList<>();
        TestRedis.single().call(redis -> redis.flushall());
        ports.add(Integer.toString(TestRedis.single().port()));
        for (RedisProcess master : TestRedis.cluster().masters()) {
            master.call(redis -> redis.flushall());
            ports.add(Integer.toString(master.port()));
        }
        List<RedisChild> children = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                children.add(RedisChild.start(RedisLimiterProcess.class, ports));
            }
            for (String where : List.of("one server", "a cluster")) {
                Set<Integer> sharing = new HashSet<>();
                for (Limit limit : RedisLimiterProcess.LIMITS) {
                    assertExact(where, limit, children, sharing);
                }
                assertThat(sharing).as("processes that had a share").hasSizeGreaterThan(1);
            }
        } finally {
            children.forEach(RedisChild::close);
        }
        try (Instance single = Instance.on(TestRedis.single(), Instance.PATIENT);
                Instance cluster = Instance.on(TestRedis.cluster(), Instance.PATIENT)) {
            for (Limit limit : RedisLimiterProcess.LIMITS) {
                assertThat(single.used(RedisLimiterProcess.SUBJECT, limit)).isEqualTo(RedisLimiterProcess.GRANTED);
                assertThat(cluster.used(RedisLimiterProcess.SUBJECT, limit)).isEqualTo(RedisLimiterProcess.GRANTED);
            }
        }
    }

    private static void assertExact(String where, Limit limit, List<RedisChild> children, Set<Integer> sharing)
            throws IOException {
        for (RedisChild child : children) {
            assertThat(child.line()).isEqualTo("ready");
        }
        for (RedisChild child : children) {
            child.signal();
        }
        List<Integer> admitted = new ArrayList<>();
        for (RedisChild child : children) {
            admitted.add(Integer.parseInt(child.line()));
            if (admitted.get(admitted.size() - 1) > 0) {
                sharing.add(admitted.size());
            }
        }
        log.info("{}, {}: the processes admitted {}", where, limit.name(), admitted);
        assertThat(admitted.stream().mapToInt(Integer::intValue).sum())
                .as("admitted by %s on %s, of which each process %s", limit.name(), where, admitted)
                .isEqualTo(RedisLimiterProcess.GRANTED);
    }
}
