package dev.ratelimit.testing.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An embedded server of a test's own, which can be stopped, and started again at the same address with the same data. */
public final class StoppablePostgres implements AutoCloseable {

    private final Path folder;
    private final int port;
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

    /** Returns when it accepts connections. */
    public void start() {
        try {
            server = EmbeddedPostgres.builder()
                    .setPort(port)
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

    @Override
    public void close() {
        stop();
    }
}
