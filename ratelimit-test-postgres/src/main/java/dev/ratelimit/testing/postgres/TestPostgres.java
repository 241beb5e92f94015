package dev.ratelimit.testing.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * A real PostgreSQL server for tests, started on first use and stopped when the JVM ends.
 *
 * <p>The server is the first of these that is there:
 *
 * <ol>
 *   <li>the one at the JDBC URL in {@code RATELIMIT_TEST_POSTGRES_URL}, which includes user and password;
 *   <li>a container, where a Docker engine answers;
 *   <li>the embedded binaries, which need nothing but a JDK.
 * </ol>
 */
public final class TestPostgres {
    private static final Logger log = LoggerFactory.getLogger(TestPostgres.class);
    private static final String URL_VARIABLE = "RATELIMIT_TEST_POSTGRES_URL";
    private static final String IMAGE = "postgres:18";
    private static final String MAX_CONNECTIONS = "300";
    private static final int POOL_SIZE = 8;

    private static @Nullable TestPostgres shared;
    private static @Nullable TestPostgres durable;

    private final String jdbcUrl;
    private @Nullable HikariDataSource dataSource;

    private TestPostgres(String jdbcUrl) {
        this.jdbcUrl = jdbcUrl;
    }

    /** The server that tests share. It does not wait for the disk, unless its address came from the environment. */
    public static synchronized TestPostgres instance() {
        if (shared == null) {
            shared = new TestPostgres(start(false));
        }
        return shared;
    }

    /** A second server, whose commits wait for the disk; for measurements and for tests of durability. */
    public static synchronized TestPostgres durable() {
        if (durable == null) {
            String url = start(true);
            requireOn(url, "fsync");
            requireOn(url, "synchronous_commit");
            durable = new TestPostgres(url);
        }
        return durable;
    }

    /** The whole address, user and password included, so that another process can connect with it. */
    public String jdbcUrl() {
        return jdbcUrl;
    }

    /** A pool of connections with default settings, as an application would have it. */
    public synchronized DataSource dataSource() {
        if (dataSource == null) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(jdbcUrl);
            config.setMaximumPoolSize(POOL_SIZE);
            dataSource = new HikariDataSource(config);
        }
        return dataSource;
    }

    /** A schema name that nobody has used yet. The schema is not created. */
    public String freshSchema() {
        return "test_" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
    }

    private static String start(boolean durable) {
        String given = System.getenv(URL_VARIABLE);
        if (given != null && !given.isBlank()) {
            log.info("PostgreSQL for tests: the server named by {}", URL_VARIABLE);
            return given;
        }
        if (DockerClientFactory.instance().isDockerAvailable()) {
            log.info("PostgreSQL for tests: container {}, durable commits: {}", IMAGE, durable);
            return startContainer(durable);
        }
        log.info("PostgreSQL for tests: embedded binaries, durable commits: {}", durable);
        return startEmbedded(durable);
    }

    // Neither closes its server: Testcontainers and the embedded server do so themselves when the JVM ends.

    @SuppressWarnings("resource")
    private static String startContainer(boolean durable) {
        String onOff = durable ? "on" : "off";
        PostgreSQLContainer container = new PostgreSQLContainer(IMAGE);
        container.setCommand(
                "postgres",
                "-c",
                "fsync=" + onOff,
                "-c",
                "synchronous_commit=" + onOff,
                "-c",
                "max_connections=" + MAX_CONNECTIONS);
        container.start();
        String url = container.getJdbcUrl();
        return url + (url.contains("?") ? "&" : "?") + "user=" + container.getUsername() + "&password="
                + container.getPassword();
    }

    @SuppressWarnings("resource")
    private static String startEmbedded(boolean durable) {
        String onOff = durable ? "on" : "off";
        try {
            // The builder always passes -F (fsync off); the setting comes after it on the command line and wins.
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", onOff)
                    .setServerConfig("synchronous_commit", onOff)
                    .setServerConfig("max_connections", MAX_CONNECTIONS)
                    .setPGStartupWait(Duration.ofSeconds(60))
                    .start();
            return server.getJdbcUrl("postgres", "postgres") + "&password=postgres";
        } catch (IOException e) {
            throw new UncheckedIOException("The embedded PostgreSQL server did not start", e);
        }
    }

    private static void requireOn(String url, String setting) {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SHOW " + setting)) {
            rows.next();
            if (!rows.getString(1).equals("on")) {
                throw new IllegalStateException("A durable PostgreSQL server is needed, but its setting " + setting
                        + " is " + rows.getString(1));
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot read the setting " + setting + " of the PostgreSQL server", e);
        }
    }
}
