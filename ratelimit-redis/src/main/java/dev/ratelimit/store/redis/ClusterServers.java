package dev.ratelimit.store.redis;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** A cluster. The client follows redirections. */
final class ClusterServers implements RedisServers {

    private final RedisClusterClient client;
    private final StatefulRedisClusterConnection<byte[], byte[]> connection;
    private final Map<String, Integer> parts = new ConcurrentHashMap<>();
    private final AtomicBoolean refreshing = new AtomicBoolean();

    ClusterServers(RedisClusterClient client) {
        this.client = client;
        this.connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    @Override
    public int slot(byte[] key) {
        return SlotHash.getSlot(key);
    }

    @Override
    public String node(int slot) {
        RedisClusterNode node = connection.getPartitions().getPartitionBySlot(slot);
        return node == null ? "" : node.getNodeId();
    }

    /** In the order in which they are met. */
    @Override
    public int part(int slot) {
        String node = node(slot);
        Integer part = parts.get(node);
        return part != null ? part : newPart(node);
    }

    @Override
    public boolean isOne() {
        return false;
    }

    private synchronized int newPart(String node) {
        return parts.computeIfAbsent(node, added -> parts.size());
    }

    @Override
    public void send(int slot, AsyncCommand<byte[], byte[], ?> command) {
        connection.dispatch(command);
    }

    @Override
    public void sendTogether(int slot, List<AsyncCommand<byte[], byte[], ?>> commands) {
        var unused = connection.getConnectionAsync(node(slot)).whenComplete((node, failure) -> {
            if (node != null) {
                node.dispatch(commands);
            } else {
                commands.forEach(command -> command.completeExceptionally(failure));
            }
        });
    }

    @Override
    public void refresh() {
        if (refreshing.compareAndSet(false, true)) {
            var unused = client.refreshPartitionsAsync().whenComplete((done, failure) -> refreshing.set(false));
        }
    }

    @Override
    public RedisClusterCommands<byte[], byte[]> commands() {
        return connection.sync();
    }

    @Override
    public void close() {
        connection.close();
    }
}
