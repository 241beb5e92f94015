package dev.ratelimit.store.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.awaitility.Awaitility;
import redis.embedded.core.ExecutableProvider;

/** A Redis server on this machine, with a folder of its own, that can be killed, paused and started again. */
final class RedisProcess implements AutoCloseable {

    /** A cluster uses a second port, which is higher by 10,000. */
    private static final int HIGHEST_PORT = 50_000;

    private final Path folder;
    private final int port;
    private final List<String> settings;
    private final Map<String, String> environment;
    private Process process;

    private RedisProcess(Path folder, int port, List<String> settings, Map<String, String> environment) {
        this.folder = folder;
        this.port = port;
        this.settings = settings;
        this.environment = environment;
    }

    /**
     * @param settings such as {@code appendonly yes}
     */
    static RedisProcess start(String... settings) {
        return start(Map.of(), settings);
    }

    static RedisProcess start(Map<String, String> environment, String... settings) {
        try {
            RedisProcess server = new RedisProcess(
                    Files.createTempDirectory("redis"), freePort(), new ArrayList<>(List.of(settings)), environment);
            server.startAgain();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int freePort() throws IOException {
        while (true) {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (free.getLocalPort() < HIGHEST_PORT) {
                    return free.getLocalPort();
                }
            }
        }
    }

    /**
     * Starts it with what it has left in its folder.
     *
     * @param replacing settings that replace those it had, until the next start
     */
    void startAgain(String... replacing) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ExecutableProvider.newJarResourceProvider().get().getAbsolutePath(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--dir",
                folder.toString(),
                "--save",
                ""));
        List<String> all = new ArrayList<>(settings);
        all.addAll(List.of(replacing)); // the last one counts
        for (String setting : all) {
            String[] words = setting.split(" ", 2);
            command.add("--" + words[0]);
            command.addAll(List.of(words[1].split(" ")));
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        process = builder.directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        Awaitility.await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
            if (!process.isAlive()) {
                throw new IllegalStateException(Files.readString(folder.resolve("log")));
            }
            return "PONG".equals(call(RedisCommands::ping));
        });
    }

    int port() {
        return port;
    }

    Path folder() {
        return folder;
    }

    RedisURI uri() {
        return RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(port)
                .withTimeout(Duration.ofSeconds(5))
                .build();
    }

    /** Calls it on a connection for this call alone. */
    <T> T call(Function<RedisCommands<String, String>, T> action) {
        return call(uri(), action);
    }

    static <T> T call(RedisURI uri, Function<RedisCommands<String, String>, T> action) {
        RedisClient client = RedisClient.create(uri);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            return action.apply(connection.sync());
        } finally {
            client.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }

    /** Ends it at once, as a crash does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Stops it for a while: its connections stay open, but nothing is answered. */
    void pause() throws Exception {
        signal("STOP");
    }

    void resume() throws Exception {
        signal("CONT");
    }

    private void signal(String name) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
