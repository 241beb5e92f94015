package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class BoundedWaitPoolTest {

    /** Longer ago than that a connection was used, HikariCP asks it whether it lives. */
    private static final Duration TAKEN_FOR_ALIVE = Duration.ofMillis(600);

    private static final Duration HIKARI_VALIDATES = Duration.ofSeconds(5);
    private static final Duration HIKARI_WAITS = Duration.ofSeconds(10);

    @Test
    void silentDatabaseDoesNotKeepARequestForAsLongAsHikariWouldAskIt() throws Exception {
        try (Wire wire = new Wire();
                BoundedWaitPool pool = usedPool(wire)) {
            wire.silent = true;
            Thread.sleep(TAKEN_FOR_ALIVE.toMillis());
            assertThat(refusal(pool)).isLessThan(HIKARI_VALIDATES.dividedBy(2));
        }
    }

    @Test
    void lostDatabaseDoesNotKeepARequestForAsLongAsTheStartMayTake() throws Exception {
        try (Wire wire = new Wire();
                BoundedWaitPool pool = usedPool(wire)) {
            wire.close();
            Thread.sleep(TAKEN_FOR_ALIVE.toMillis());
            assertThat(refusal(pool)).isLessThan(HIKARI_WAITS.dividedBy(2));
        }
    }

    /** Each connection prepares its own statements, so each must be used. */
    @Test
    void workIsDoneOnEachConnection() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl());
        config.setMaximumPoolSize(3);
        Set<Integer> backends = new HashSet<>();
        try (BoundedWaitPool pool = new BoundedWaitPool(config)) {
            pool.onEachConnection(() -> backends.add(backend(pool)), System.nanoTime() + HIKARI_WAITS.toNanos());

            assertThat(backends).hasSize(3);
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
            assertThat(pool.getHikariPoolMXBean().getIdleConnections()).isEqualTo(3);
        }
    }

    private static int backend(BoundedWaitPool pool) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            return row.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Duration refusal(BoundedWaitPool pool) {
        long start = System.nanoTime();
        assertThatThrownBy(() -> pool.getConnection().close()).isInstanceOf(SQLException.class);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private static BoundedWaitPool usedPool(Wire wire) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(wire.jdbcUrl());
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(HIKARI_WAITS.toMillis());
        BoundedWaitPool pool = new BoundedWaitPool(config);
        pool.setDeadline(Duration.ofMillis(100));
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.isValid(10)).isTrue();
        }
        return pool;
    }

    /** Stands between the pool and the database, and can fall silent. */
    private static final class Wire implements AutoCloseable {

        private final URI database =
                URI.create(TestPostgres.instance().jdbcUrl().substring("jdbc:".length()));
        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final List<Socket> sockets = new CopyOnWriteArrayList<>();
        private volatile boolean silent;

        private Wire() throws IOException {
            daemon(() -> {
                while (true) {
                    Socket near = server.accept();
                    Socket far = new Socket(database.getHost(), database.getPort());
                    sockets.addAll(List.of(near, far));
                    daemon(() -> pass(near.getInputStream(), far.getOutputStream()));
                    daemon(() -> pass(far.getInputStream(), near.getOutputStream()));
                }
            });
        }

        private String jdbcUrl() {
            return "jdbc:postgresql://" + server.getInetAddress().getHostAddress() + ":" + server.getLocalPort()
                    + database.getRawPath() + "?" + database.getRawQuery();
        }

        private void pass(InputStream from, OutputStream to) throws IOException {
            byte[] some = new byte[8192];
            for (int read = from.read(some); read >= 0; read = from.read(some)) {
                if (!silent) {
                    to.write(some, 0, read);
                    to.flush();
                }
            }
        }

        private interface Work {
            void run() throws IOException;
        }

        private static void daemon(Work work) {
            Thread thread = new Thread(() -> {
                try {
                    work.run();
                } catch (IOException e) {
                    // closed: there is nothing left to do
                    return;
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void close() {
            try {
                server.close();
                for (Socket socket : sockets) {
                    socket.close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
