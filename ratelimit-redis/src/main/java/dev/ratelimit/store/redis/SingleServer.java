package dev.ratelimit.store.redis;

import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server, or the master that Sentinel names. The client looks for it when it connects, and connects again only if the
 * connection is closed. A machine without power closes nothing, and neither does a master that has become a replica. So a
 * connection that is silent for a second is replaced here, and one to a server that is no master.
 */
final class SingleServer extends RedisServers {

    private static final Logger log = LoggerFactory.getLogger(SingleServer.class);

    private static final ThreadFactory THREADS = DaemonThreads.named("ratelimit-redis-reconnect");

    private final RedisClient client;
    private volatile StatefulRedisConnection<byte[], byte[]> connection;
    private boolean isClosed;

    SingleServer(RedisClient client) {
        this.client = client;
        this.connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    @Override
    int slot(byte[] key) {
        return 0;
    }

    @Override
    String node(int slot) {
        return "";
    }

    @Override
    int part(int slot) {
        return 0;
    }

    @Override
    boolean isOne() {
        return true;
    }

    @Override
    void send(int slot, AsyncCommand<byte[], byte[], ?> command) {
        connection.dispatch(command);
    }

    @Override
    void sendTogether(int slot, List<AsyncCommand<byte[], byte[], ?>> commands) {
        connection.dispatch(commands);
    }

    @Override
    void sendTogether(Redirection to, List<AsyncCommand<byte[], byte[], ?>> commands) {
        throw new IllegalStateException("a single server redirects nobody, but this one said " + to);
    }

    @Override
    void look(Runnable ended) {
        THREADS.newThread(() -> {
                    try {
                        use(client.connect(ByteArrayCodec.INSTANCE));
                        log.info("Replaced the connection to Redis: it was silent for a second, or led to no master");
                    } catch (RuntimeException e) {
                        log.debug("Could not replace the connection to Redis: {}", LogText.of(e.getMessage()));
                    } finally {
                        ended.run();
                    }
                })
                .start();
    }

    private synchronized void use(StatefulRedisConnection<byte[], byte[]> made) {
        if (isClosed) {
            made.close();
            return;
        }
        StatefulRedisConnection<byte[], byte[]> old = connection;
        connection = made;
        answered(node(0));
        var unused = old.closeAsync();
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
