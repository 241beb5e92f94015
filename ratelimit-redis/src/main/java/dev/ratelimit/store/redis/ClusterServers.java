package dev.ratelimit.store.redis;

import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import io.lettuce.core.RedisException;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cluster. The client follows redirections, except for commands that have to stay together. It connects to a node again only if
 * the connection is closed, and a firewall that forgets a connection closes nothing. So if a node is silent for a second, but answers
 * on a new connection, all connections are replaced.
 */
final class ClusterServers extends RedisServers {

    private static final Logger log = LoggerFactory.getLogger(ClusterServers.class);

    private static final ThreadFactory THREADS = DaemonThreads.named("ratelimit-redis-refresh");

    /** Longer than a command may take: those that are under way to other nodes still get their answers. */
    private static final Duration UNTIL_OLD_ONES_CLOSE = Duration.ofSeconds(10);

    private final RedisClusterClient client;
    private volatile StatefulRedisClusterConnection<byte[], byte[]> connection;
    private boolean isClosed;
    private final Map<String, Integer> parts = new ConcurrentHashMap<>();

    ClusterServers(RedisClusterClient client) {
        this.client = client;
        this.connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    @Override
    int slot(byte[] key) {
        return SlotHash.getSlot(key);
    }

    @Override
    String node(int slot) {
        RedisClusterNode node = connection.getPartitions().getPartitionBySlot(slot);
        return node == null ? "" : node.getNodeId();
    }

    /** In the order in which they are met. */
    @Override
    int part(int slot) {
        String node = node(slot);
        Integer part = parts.get(node);
        return part != null ? part : newPart(node);
    }

    @Override
    boolean isOne() {
        return false;
    }

    private synchronized int newPart(String node) {
        return parts.computeIfAbsent(node, added -> parts.size());
    }

    @Override
    void send(int slot, AsyncCommand<byte[], byte[], ?> command) {
        connection.dispatch(command);
    }

    @Override
    void sendTogether(int slot, List<AsyncCommand<byte[], byte[], ?>> commands) {
        dispatch(connection.getConnectionAsync(node(slot)), commands);
    }

    @Override
    void sendTogether(Redirection to, List<AsyncCommand<byte[], byte[], ?>> commands) {
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

    /** A replica may have taken over, or a connection leads nowhere. */
    @Override
    void look(Runnable ended) {
        THREADS.newThread(() -> {
                    try {
                        client.refreshPartitions();
                        replaceDeadConnections();
                    } catch (RuntimeException e) {
                        log.debug("Could not refresh the view of the Redis Cluster: {}", LogText.of(e.getMessage()));
                    } finally {
                        ended.run();
                    }
                })
                .start();
    }

    private void replaceDeadConnections() {
        List<String> silent = new ArrayList<>(silent());
        silent.removeIf(node -> connection.getPartitions().getPartitionByNodeId(node) == null);
        if (silent.isEmpty()) {
            return;
        }
        StatefulRedisClusterConnection<byte[], byte[]> fresh = client.connect(ByteArrayCodec.INSTANCE);
        silent.removeIf(node -> !isAnswering(fresh, node));
        if (silent.isEmpty()) {
            fresh.close(); // the servers themselves are silent
            return;
        }
        use(fresh);
        silent.forEach(this::answered);
        log.info(
                "Replaced the connections to the Redis Cluster: a server was silent for a second, but answers on a new one");
    }

    private static boolean isAnswering(StatefulRedisClusterConnection<byte[], byte[]> fresh, String node) {
        try {
            return "PONG".equals(fresh.getConnection(node).sync().ping());
        } catch (RedisException e) {
            return false;
        }
    }

    private synchronized void use(StatefulRedisClusterConnection<byte[], byte[]> fresh) {
        if (isClosed) {
            fresh.close();
            return;
        }
        StatefulRedisClusterConnection<byte[], byte[]> old = connection;
        connection = fresh;
        CompletableFuture.delayedExecutor(UNTIL_OLD_ONES_CLOSE.toSeconds(), TimeUnit.SECONDS)
                .execute(old::close);
    }

    @Override
    RedisClusterCommands<byte[], byte[]> commands() {
        return connection.sync();
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        connection.close();
    }
}
