package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.redis.UsersAndAddresses.Sender;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process is killed while it decides requests over two slots, and other instances ask for the same subjects. */
@Timeout(60)
class KilledProcessTest {

    private static final int BEFORE_THE_OTHERS = 20;
    private static final int BEFORE_IT_IS_KILLED = 40;

    /** Each of its threads had at most one request on its way. */
    @Test
    void killedProcessLeavesAtMostAChargeForEachOfItsThreads() throws Exception {
        List<String> ports = new ArrayList<>();
        for (RedisProcess master : TestRedis.cluster().masters()) {
            master.call(redis -> redis.flushall());
            ports.add(Integer.toString(master.port()));
        }
        UsersAndAddresses requests = new UsersAndAddresses();
        try (Instance one = Instance.on(TestRedis.cluster(), Instance.PATIENT);
                Instance two = Instance.on(TestRedis.cluster(), Instance.PATIENT);
                RedisChild child = RedisChild.start(UntilKilledProcess.class, ports)) {
            for (int i = 0; i < BEFORE_THE_OTHERS; i++) {
                requests.admitted(sender(child.line()));
            }
            try (Load load = Load.start(List.of(one, two), 2, requests::ask)) {
                for (int i = BEFORE_THE_OTHERS; i < BEFORE_IT_IS_KILLED; i++) {
                    requests.admitted(sender(child.line()));
                }
                child.kill();
                for (String line = child.lineIfAny(); line != null; line = child.lineIfAny()) {
                    requests.admitted(sender(line));
                }
                load.await();
            }

            assertThat(requests.failed()).as("failed requests of the others").isZero();
            Awaitility.await().untilAsserted(() -> requests.assertCharged(one, UntilKilledProcess.THREADS));
        }
    }

    private static Sender sender(String line) {
        String[] numbers = line.split(" ");
        return new Sender(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1]));
    }
}
