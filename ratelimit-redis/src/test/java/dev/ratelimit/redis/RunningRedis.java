package dev.ratelimit.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

/** A Redis of a test, on loopback. */
final class RunningRedis implements AutoCloseable {

    private final int port;
    private final RedisServer server;

    private RunningRedis(int port, RedisServer server) {
        this.port = port;
        this.server = server;
    }

    static RunningRedis start(String... settings) throws IOException {
        return start(Ports.free(), settings);
    }

    static RunningRedis start(int port, String... settings) throws IOException {
        RedisServerBuilder builder = RedisServer.newRedisServer()
                .executableProvider(RedisProgram.chosen()::linked)
                .port(port)
                .setting("save \"\"")
                .setting("appendonly no");
        for (String setting : settings) {
            builder.setting(setting);
        }
        RedisServer server = builder.build();
        server.start();
        return new RunningRedis(port, server);
    }

    int port() {
        return port;
    }

    String[] properties() {
        return new String[] {"spring.data.redis.host=localhost", "spring.data.redis.port=" + port};
    }

    /** Asks the server on a connection of the test. */
    <T> T ask(Function<RedisCommands<String, String>, T> question) {
        return ask(RedisURI.create("localhost", port), question);
    }

    List<String> keys() {
        return ask(commands -> commands.keys("*"));
    }

    static long size(int port) {
        return ask(RedisURI.create("localhost", port), commands -> commands.dbsize());
    }

    static <T> T ask(RedisURI uri, Function<RedisCommands<String, String>, T> question) {
        RedisClient client = RedisClient.create(uri);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            return question.apply(connection.sync());
        } finally {
            client.shutdown();
        }
    }

    @Override
    public void close() throws IOException {
        server.stop();
    }
}
