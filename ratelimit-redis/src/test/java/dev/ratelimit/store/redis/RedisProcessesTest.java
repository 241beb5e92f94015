package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
        List<Child> children = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                children.add(Child.start(ports));
            }
            for (String where : List.of("one server", "a cluster")) {
                Set<Integer> sharing = new HashSet<>();
                for (Limit limit : RedisLimiterProcess.LIMITS) {
                    assertExact(where, limit, children, sharing);
                }
                assertThat(sharing).as("processes that had a share").hasSizeGreaterThan(1);
            }
        } finally {
            children.forEach(Child::close);
        }
        try (Instance single = Instance.on(TestRedis.single(), Instance.PATIENT);
                Instance cluster = Instance.on(TestRedis.cluster(), Instance.PATIENT)) {
            for (Limit limit : RedisLimiterProcess.LIMITS) {
                assertThat(single.used(RedisLimiterProcess.SUBJECT, limit)).isEqualTo(RedisLimiterProcess.GRANTED);
                assertThat(cluster.used(RedisLimiterProcess.SUBJECT, limit)).isEqualTo(RedisLimiterProcess.GRANTED);
            }
        }
    }

    private static void assertExact(String where, Limit limit, List<Child> children, Set<Integer> sharing)
            throws IOException {
        for (Child child : children) {
            assertThat(child.line()).isEqualTo("ready");
        }
        for (Child child : children) {
            child.signal();
        }
        List<Integer> admitted = new ArrayList<>();
        for (Child child : children) {
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

    /** A {@link RedisLimiterProcess} as seen from the test. */
    private record Child(Process process, BufferedReader output) implements AutoCloseable {

        static Child start(List<String> ports) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx128m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    RedisLimiterProcess.class.getName()));
            command.addAll(ports);
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new Child(
                    process,
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)));
        }

        /** The next line that is meant for the test. */
        String line() throws IOException {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.startsWith(RedisLimiterProcess.MARK)) {
                    return line.substring(RedisLimiterProcess.MARK.length());
                }
            }
            throw new AssertionError("the process ended before it said what was asked of it");
        }

        /** Lets it go on. */
        void signal() throws IOException {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
