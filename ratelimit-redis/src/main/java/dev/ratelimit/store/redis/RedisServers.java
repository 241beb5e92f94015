package dev.ratelimit.store.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.protocol.AsyncCommand;
import java.util.List;

/** A connection to one server or to a cluster. Safe for use by many threads. */
interface RedisServers extends AutoCloseable {

    /** Connects to the servers that the client was made for. */
    static RedisServers connect(AbstractRedisClient client) {
        if (client instanceof RedisClusterClient cluster) {
            return new ClusterServers(cluster);
        }
        if (client instanceof RedisClient single) {
            return new SingleServer(single);
        }
        throw new IllegalArgumentException("a client of " + client.getClass() + " is not supported");
    }

    /** The slot of a key. Keys in one slot can be swapped together. */
    int slot(byte[] key);

    /** The server that has the slot now. */
    String node(int slot);

    /** The number of that server. */
    int part(int slot);

    /** Whether all slots are on one server. */
    boolean isOne();

    /** Sends a command of one slot, and does not wait for its answer. */
    void send(int slot, AsyncCommand<byte[], byte[], ?> command);

    /** Sends commands to the same server on one connection: for a command that looks at what others have done before. */
    void sendTogether(int slot, List<AsyncCommand<byte[], byte[], ?>> commands);

    /** A server has said that it does not have the slot. */
    void refresh();

    /** For what decides nothing. */
    RedisClusterCommands<byte[], byte[]> commands();

    @Override
    void close();
}
