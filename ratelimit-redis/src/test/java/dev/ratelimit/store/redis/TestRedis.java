package dev.ratelimit.store.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;

/** Servers that tests share: they are started when first needed, and end with the tests. */
final class TestRedis {

    /** Threads that all clients share: to start and to end some for each client would take longer than most tests. */
    private static final ClientResources THREADS = ClientResources.create();

    private static RedisProcess single;
    private static RedisProcess installed;
    private static RedisProcessCluster cluster;

    private TestRedis() {}

    static synchronized RedisProcess single() {
        if (single == null) {
            single = RedisProcess.start();
        }
        return single;
    }

    /** The server that the machine has. */
    static synchronized RedisProcess installed() {
        if (installed == null) {
            installed = RedisProcess.startInstalled();
        }
        return installed;
    }

    /** Three masters without replicas. */
    static synchronized RedisProcessCluster cluster() throws Exception {
        if (cluster == null) {
            cluster = RedisProcessCluster.start(3, 0);
        }
        return cluster;
    }

    /** A client that behaves as that of the starter does. */
    static RedisClient client(RedisProcess server) {
        return client(server.uri());
    }

    static RedisClient client(RedisURI address) {
        RedisClient client = RedisClient.create(THREADS, address);
        client.setOptions(ClientOptions.builder()
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .build());
        return client;
    }

    static RedisClusterClient client(RedisProcessCluster servers) {
        return clusterClient(servers.uris());
    }

    static RedisClusterClient clusterClient(List<RedisURI> addresses) {
        RedisClusterClient client = RedisClusterClient.create(THREADS, addresses);
        ClusterClientOptions.Builder options = ClusterClientOptions.builder()
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .enableAllAdaptiveRefreshTriggers()
                        .adaptiveRefreshTriggersTimeout(Duration.ofMillis(200))
                        .enablePeriodicRefresh(Duration.ofSeconds(2))
                        .build());
        options.replayFilter(command -> true);
        client.setOptions(options.build());
        return client;
    }

    static void shutdown(AbstractRedisClient client) {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
}
