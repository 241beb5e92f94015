package dev.ratelimit.store.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** A cluster. The client follows redirections, except for commands that have to stay together. */
final class ClusterServers implements RedisServers {

    private final RedisClusterClient client;
    private final StatefulRedisClusterConnection<byte[], byte[]> connection;
    private final Map<String, Integer> parts = new ConcurrentHashMap<>();
    private final Search search = new Search(System::nanoTime);

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
        dispatch(connection.getConnectionAsync(node(slot)), commands);
    }

    @Override
    public void sendTogether(Redirection to, List<AsyncCommand<byte[], byte[], ?>> commands) {
        List<AsyncCommand<byte[], byte[], ?>> all = new ArrayList<>(commands);
        if (to.isOnce()) {
            all.add(
                    0,
                    new AsyncCommand<>(new Command<>(CommandType.ASKING, new StatusOutput<>(ByteArrayCodec.INSTANCE))));
        }
        dispatch(connection.getConnectionAsync(to.host(), to.port()), all);
    }

    private static void dispatch(
            CompletableFuture<StatefulRedisConnection<byte[], byte[]>> connected,
            List<AsyncCommand<byte[], byte[], ?>> commands) {
        var unused = connected.whenComplete((node, failure) -> {
            if (node != null) {
                node.dispatch(commands);
            } else {
                commands.forEach(command -> command.completeExceptionally(failure));
            }
        });
    }

    @Override
    public void answered(String node) {
        search.answered(node);
    }

    /** Its replica may have taken over. */
    @Override
    public void missed(String node) {
        if (search.isSilent(node)) {
            refresh();
        }
    }

    @Override
    public void refresh() {
        if (search.begins()) {
            var unused = client.refreshPartitionsAsync().whenComplete((done, failure) -> search.ended());
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
