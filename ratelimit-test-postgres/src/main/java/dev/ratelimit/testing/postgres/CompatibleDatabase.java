package dev.ratelimit.testing.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import javax.sql.DataSource;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/** Databases that are compatible with PostgreSQL, each in a container that is stopped when the JVM ends. */
public enum CompatibleDatabase {
    COCKROACHDB(
            "cockroachdb/cockroach:v25.2.1",
            26257,
            "/defaultdb?user=root&sslmode=disable",
            "start-single-node --insecure"),
    YUGABYTEDB(
            "yugabytedb/yugabyte:2025.1.0.1-b3",
            5433,
            "/yugabyte?user=yugabyte",
            "bin/yugabyted start --background=false"),
    CITUS("citusdata/citus:13.0.3", 5432, "/postgres?user=postgres&password=postgres", "postgres");

    private static final Duration LONGEST_START = Duration.ofMinutes(5);
    private static final int POOL_SIZE = 8;

    private final String image;
    private final int port;
    private final String path;
    private final String command;

    CompatibleDatabase(String image, int port, String path, String command) {
        this.image = image;
        this.port = port;
        this.path = path;
        this.command = command;
    }

    /** Whether a Docker engine answers, without which none of them can be started. */
    public static boolean canBeStarted() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    /** Starts it. Testcontainers stops it when the JVM ends. */
    @SuppressWarnings("resource")
    public DataSource start() {
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image));
        container.addExposedPort(port);
        container.addEnv("POSTGRES_PASSWORD", "postgres");
        container.setWaitStrategy(Wait.forListeningPort().withStartupTimeout(LONGEST_START));
        container.setCommand(command);
        container.start();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + container.getHost() + ":" + container.getMappedPort(port) + path);
        config.setMaximumPoolSize(POOL_SIZE);
        config.setInitializationFailTimeout(LONGEST_START.toMillis()); // it listens before it answers
        return new HikariDataSource(config);
    }
}
