package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
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
            wire.fallSilent();
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
}
