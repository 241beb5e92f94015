package dev.ratelimit.store.redis;

import dev.ratelimit.redis.Ports;
import dev.ratelimit.redis.RedisProgram;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.awaitility.Awaitility;

/** A Redis server on this machine, with a folder of its own, that can be killed, paused and started again. */
public final class RedisProcess implements AutoCloseable {

    private final RedisProgram program;
    private final Path folder;
    private final int port;
    private final List<String> settings;
    private final Map<String, String> environment;
    private Process process;

    private RedisProcess(
            RedisProgram program, Path folder, int port, List<String> settings, Map<String, String> environment) {
        this.program = program;
        this.folder = folder;
        this.port = port;
        this.settings = settings;
        this.environment = environment;
    }

    /**
     * @param settings such as {@code appendonly yes}
     */
    static RedisProcess start(String... settings) {
        return start(RedisProgram.chosen(), Map.of(), settings);
    }

    /** Starts the server that the tests bring along: a packaged one may use jemalloc, which does not start with another clock. */
    public static RedisProcess start(Map<String, String> environment, String... settings) {
        return start(RedisProgram.bundled(), environment, settings);
    }

    /** Starts the server that the machine has. */
    static RedisProcess startInstalled() {
        return start(RedisProgram.installed(), Map.of());
    }

    private static RedisProcess start(RedisProgram program, Map<String, String> environment, String... settings) {
        try {
            RedisProcess server = new RedisProcess(
                    program,
                    Files.createTempDirectory("redis"),
                    Ports.free(),
                    new ArrayList<>(List.of(settings)),
                    environment);
            server.startAgain();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Starts it with what it has left in its folder.
     *
     * @param replacing settings that replace those it had, until the next start
     */
    void startAgain(String... replacing) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                program.path(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--dir",
                folder.toString(),
                "--save",
                ""));
        List<String> all = new ArrayList<>(program.settings());
        all.addAll(settings);
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
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .ignoreExceptionsInstanceOf(RedisException.class)
                .until(() -> {
                    if (!process.isAlive()) {
                        throw new IllegalStateException(Files.readString(folder.resolve("log")));
                    }
                    return "PONG".equals(call(RedisCommands::ping));
                });
    }

    public int port() {
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
