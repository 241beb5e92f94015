package dev.ratelimit.autoconfigure;

import static org.awaitility.Awaitility.await;

import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A real PgBouncer in front of the test database, on a free port. */
final class PgBouncer implements AutoCloseable {

    private static final Path PROGRAM = Path.of("/usr/sbin/pgbouncer");

    /** How many connections to the server it shares among its clients. */
    static final int SERVER_CONNECTIONS = 3;

    private final Process process;
    private final URI database = URI.create(TestPostgres.instance().jdbcUrl().substring("jdbc:".length()));
    private final int port;

    /**
     * @param mode {@code transaction}, {@code session} or {@code statement}
     */
    PgBouncer(String mode, Path folder) throws IOException {
        Assumptions.assumeTrue(
                Files.isExecutable(PROGRAM), PROGRAM + " is not installed here, so nothing can pool by transaction");
        port = freePort();
        Path settings = folder.resolve("pgbouncer.ini");
        Files.writeString(settings, settings(mode));
        List<String> command = new ArrayList<>(List.of(PROGRAM.toString()));
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("-u", "nobody")); // it refuses root
        }
        command.add(settings.toString());
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("pgbouncer.log").toFile())
                .start();
        try {
            await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
                connect().close();
                return true;
            });
        } catch (RuntimeException e) {
            close();
            throw new IllegalStateException(Files.readString(folder.resolve("pgbouncer.log")), e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private String settings(String mode) {
        Map<String, String> parameters = new TreeMap<>();
        for (String parameter : database.getQuery().split("&", -1)) {
            String[] parts = parameter.split("=", 2);
            parameters.put(parts[0], parts[1]);
        }
        return """
                [databases]
                * = host=%s port=%d user=%s password=%s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = %s
                default_pool_size = %d
                max_client_conn = 200
                ignore_startup_parameters = extra_float_digits
                """.formatted(
                        database.getHost().equals("localhost") ? "127.0.0.1" : database.getHost(),
                        database.getPort(),
                        parameters.get("user"),
                        parameters.getOrDefault("password", ""),
                        port,
                        mode,
                        SERVER_CONNECTIONS);
    }

    String jdbcUrl() {
        return "jdbc:postgresql://127.0.0.1:" + port + database.getPath() + "?user=any&password=any";
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(jdbcUrl() + "&prepareThreshold=0");
    }

    /** Asks each connection to the server, which only PgBouncer has in its hands. */
    List<String> onEachServerConnection(String query) throws SQLException {
        ArrayDeque<Connection> held = new ArrayDeque<>();
        List<String> answers = new ArrayList<>();
        try {
            for (int i = 0; i < SERVER_CONNECTIONS; i++) {
                Connection connection = connect();
                held.add(connection);
                connection.setAutoCommit(false); // the transaction keeps the server's connection to itself
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery(query)) {
                    while (row.next()) {
                        answers.add(row.getString(1));
                    }
                }
            }
            return answers;
        } finally {
            for (Connection connection : held) {
                connection.rollback(); // otherwise PgBouncer closes the server's connection, too
                connection.close();
            }
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
