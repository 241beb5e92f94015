package dev.ratelimit.store.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;

/** A Redis Cluster on this machine. */
final class RedisProcessCluster implements AutoCloseable {

    private final List<RedisProcess> masters = new ArrayList<>();
    private final List<RedisProcess> replicas = new ArrayList<>();

    private RedisProcessCluster() {}

    /**
     * @param replicas for each master
     */
    static RedisProcessCluster start(int masters, int replicas, String... settings) throws Exception {
        RedisProcessCluster cluster = new RedisProcessCluster();
        List<String> all = new ArrayList<>(List.of(settings));
        all.addAll(List.of("cluster-enabled yes", "cluster-node-timeout 1000"));
        for (int i = 0; i < masters; i++) {
            cluster.masters.add(RedisProcess.start(all.toArray(String[]::new)));
        }
        for (int i = 0; i < masters * replicas; i++) {
            cluster.replicas.add(RedisProcess.start(all.toArray(String[]::new)));
        }
        cluster.join();
        return cluster;
    }

    /** Masters without replicas, one for each environment. */
    static RedisProcessCluster startIn(List<Map<String, String>> environments) {
        RedisProcessCluster cluster = new RedisProcessCluster();
        for (Map<String, String> environment : environments) {
            cluster.masters.add(RedisProcess.start(environment, "cluster-enabled yes", "cluster-node-timeout 5000"));
        }
        cluster.join();
        return cluster;
    }

    private void join() {
        RedisProcess first = masters.get(0);
        for (int i = 0; i < masters.size(); i++) {
            int[] slots = IntStream.range(
                            SlotHash.SLOT_COUNT * i / masters.size(), SlotHash.SLOT_COUNT * (i + 1) / masters.size())
                    .toArray();
            masters.get(i).call(redis -> redis.clusterAddSlots(slots));
        }
        all().forEach(server -> server.call(redis -> redis.clusterMeet("127.0.0.1", first.port())));
        awaitOk(all());
        for (int i = 0; i < replicas.size(); i++) {
            String master = masters.get(i % masters.size()).call(redis -> redis.clusterMyId());
            replicas.get(i).call(redis -> redis.clusterReplicate(master));
        }
        awaitOk(all());
        for (RedisProcess replica : replicas) {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() ->
                            replica.call(redis -> redis.info("replication")).contains("master_link_status:up"));
        }
    }

    private static void awaitOk(List<RedisProcess> servers) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> servers.stream().allMatch(server -> {
                    String nodes = server.call(redis -> redis.clusterNodes());
                    return nodes.lines().count() == servers.size()
                            && !nodes.contains("handshake")
                            && server.call(redis -> redis.clusterInfo()).contains("cluster_state:ok");
                }));
    }

    List<RedisProcess> all() {
        List<RedisProcess> all = new ArrayList<>(masters);
        all.addAll(replicas);
        return all;
    }

    List<RedisProcess> masters() {
        return masters;
    }

    /** The first replica of the master with that number, then the next ones. */
    List<RedisProcess> replicas(int master) {
        return IntStream.range(0, replicas.size())
                .filter(i -> i % masters.size() == master)
                .mapToObj(replicas::get)
                .toList();
    }

    List<RedisURI> uris() {
        return all().stream().map(RedisProcess::uri).toList();
    }

    @Override
    public void close() {
        all().forEach(RedisProcess::close);
    }
}
