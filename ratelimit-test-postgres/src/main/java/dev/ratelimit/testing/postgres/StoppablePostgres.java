package dev.ratelimit.testing.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An embedded server of a test's own, which can be stopped, and started again at the same address with the same data. */
public final class StoppablePostgres implements AutoCloseable {

    private final Path folder;
    private final int port;
    private final Map<String, String> settings = new TreeMap<>();
    private @Nullable EmbeddedPostgres server;

    /**
     * Does not start it.
     *
     * @param folder where it keeps its data
     */
    public StoppablePostgres(Path folder) {
        this.folder = folder;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            this.port = free.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The whole address, user and password included. It is the same after each start. */
    public String jdbcUrl() {
        return "jdbc:postgresql://localhost:" + port + "/postgres?user=postgres&password=postgres";
    }

    /** A setting as in {@code postgresql.conf}, for the next start. */
    public void set(String name, String value) {
        settings.put(name, value);
    }

    /** Returns when it accepts connections. */
    public void start() {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
        settings.forEach(builder::setServerConfig);
        try {
            server = builder.setPort(port)
                    .setDataDirectory(folder)
                    .setCleanDataDirectory(false)
                    .setPGStartupWait(Duration.ofSeconds(60))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded PostgreSQL server did not start", e);
        }
    }

    /** Ends its connections, and returns when it has stopped. */
    public void stop() {
        EmbeddedPostgres running = server;
        server = null;
        if (running != null) {
            try {
                running.close();
            } catch (IOException e) {
                throw new UncheckedIOException("The embedded PostgreSQL server did not stop", e);
            }
        }
    }

    /** Ends all its processes with SIGKILL, as a crash does. */
    public void kill() {
        signal("KILL");
        stop();
    }

    /** Freezes the server with SIGSTOP: the system still accepts connections for it, and nothing answers. */
    public void pause() {
        signal("STOP");
    }

    /** Lets a frozen server go on. */
    public void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        try {
            long pid = Long.parseLong(
                    Files.readAllLines(folder.resolve("postmaster.pid")).get(0).strip());
            ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
            List<String> command = Stream.concat(
                            Stream.of("kill", "-" + name),
                            Stream.concat(Stream.of(postmaster), postmaster.descendants())
                                    .map(process -> Long.toString(process.pid())))
                    .toList();
            // A child may end meanwhile, which is no failure.
            int unused = new ProcessBuilder(command).start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded PostgreSQL server could not be signalled", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
    }
}
