package dev.ratelimit.store.redis;

import dev.ratelimit.store.redis.UsersAndAddresses.Sender;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * The main class of a process that sends requests of users and addresses to a cluster until it is killed. It says which ones were
 * admitted.
 *
 * <p>Arguments: the ports of the cluster.
 */
public final class UntilKilledProcess {

    static final int THREADS = 4;

    private UntilKilledProcess() {}

    public static void main(String[] ports) throws IOException {
        List<RedisURI> uris = Arrays.stream(ports)
                .map(port -> RedisURI.create("127.0.0.1", Integer.parseInt(port)))
                .toList();
        Instance instance = Instance.inClusterAt(uris.get(0), Instance.PATIENT);
        UsersAndAddresses requests = new UsersAndAddresses();
        for (int i = 0; i < THREADS; i++) {
            new Thread(() -> {
                        while (true) {
                            Sender sender = Sender.random();
                            if (requests.decide(instance, sender).allowed()) {
                                RedisChild.say(sender.user() + " " + sender.address());
                            }
                        }
                    })
                    .start();
        }
        while (System.in.read() >= 0) {
            // The test is alive.
        }
        System.exit(0);
    }
}
