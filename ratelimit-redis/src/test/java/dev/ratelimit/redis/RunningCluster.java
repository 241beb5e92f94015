package dev.ratelimit.redis;

import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import redis.embedded.RedisServer;
import redis.embedded.RedisShardedCluster;

/** Three masters of a test, on loopback. */
final class RunningCluster implements AutoCloseable {

    private final RedisShardedCluster cluster;

    private RunningCluster(RedisShardedCluster cluster) {
        this.cluster = cluster;
    }

    /** Starts it, and waits until every node has heard of all others. */
    static RunningCluster start() throws IOException {
        RedisShardedCluster cluster = RedisShardedCluster.newRedisCluster()
                .withServerBuilder(RedisServer.newRedisServer().executableProvider(RedisProgram.chosen()::linked))
                .serverPorts(List.of(Ports.free(), Ports.free(), Ports.free()))
                .shard("one", 0)
                .shard("two", 0)
                .shard("three", 0)
                .build();
        cluster.start();
        RunningCluster running = new RunningCluster(cluster);
        await().atMost(Duration.ofSeconds(60))
                .until(() -> running.ports().stream()
                        .allMatch(port -> RunningRedis.ask(
                                RedisURI.create("localhost", port),
                                commands -> commands.clusterInfo().contains("cluster_state:ok"))));
        return running;
    }

    /** Ends one of the nodes. The others go on without its slots. */
    void end(int port) {
        ports().forEach(node -> RunningRedis.ask(
                RedisURI.create("localhost", node),
                commands -> commands.configSet("cluster-require-full-coverage", "no")));
        RunningRedis.ask(RedisURI.create("localhost", port), commands -> {
            commands.shutdown(false);
            return "ended";
        });
    }

    List<Integer> ports() {
        return cluster.ports();
    }

    String property() {
        return "spring.data.redis.cluster.nodes=localhost:" + ports().get(0);
    }

    @Override
    public void close() throws IOException {
        cluster.stop();
    }
}
