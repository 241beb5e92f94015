package dev.ratelimit.store.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import java.util.List;

/** One server, or the master that Sentinel names. */
final class SingleServer implements RedisServers {

    private final StatefulRedisConnection<byte[], byte[]> connection;

    SingleServer(RedisClient client) {
        this.connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    @Override
    public int slot(byte[] key) {
        return 0;
    }

    @Override
    public String node(int slot) {
        return "";
    }

    @Override
    public int part(int slot) {
        return 0;
    }

    @Override
    public boolean isOne() {
        return true;
    }

    @Override
    public void send(int slot, AsyncCommand<byte[], byte[], ?> command) {
        connection.dispatch(command);
    }

    @Override
    public void sendTogether(int slot, List<AsyncCommand<byte[], byte[], ?>> commands) {
        connection.dispatch(commands);
    }

    @Override
    public void refresh() {
        // There is only one.
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
