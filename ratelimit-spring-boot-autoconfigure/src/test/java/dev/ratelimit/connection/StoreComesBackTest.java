package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.util.Credentials;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** Attempts to connect to a database that is away or silent. How soon one is used that is back: {@code RecoveryLagTest}. */
class StoreComesBackTest {

    /** A thousand pauses are an outage of 200 seconds. If they grew as those of HikariCP do, this would take more than an hour. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void pausesDoNotGrowHoweverLongTheDatabaseIsAway() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        Connection back = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (a, b, c) -> null);
        ReconnectingDataSource database = new ReconnectingDataSource(
                new AbstractDataSource() {
                    @Override
                    public Connection getConnection() throws SQLException {
                        if (attempts.incrementAndGet() <= 1_000) {
                            throw new SQLException("refused", "08001");
                        }
                        return back;
                    }

                    @Override
                    public Connection getConnection(String username, String password) throws SQLException {
                        return getConnection();
                    }
                },
                Duration.ofMillis(1));
        database.keepTrying();

        assertThat(database.getConnection()).isSameAs(back);
        assertThat(attempts).hasValue(1_001);
        assertThat(ReconnectingDataSource.PAUSE).isLessThanOrEqualTo(Duration.ofMillis(200));
    }

    /** The driver gives up such an attempt after ten seconds. */
    @Test
    void attemptThatHangsDoesNotKeepTheNextOneWaiting() throws Exception {
        try (Wire wire = new Wire()) {
            PGSimpleDataSource driver = new PGSimpleDataSource();
            driver.setURL(wire.jdbcUrl());
            ReconnectingDataSource database = new ReconnectingDataSource(driver);
            database.keepTrying();
            wire.fallSilent();
            CompletableFuture<Boolean> connected = CompletableFuture.supplyAsync(() -> {
                try (Connection connection = database.getConnection()) {
                    return connection.isValid(30);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            Awaitility.await().until(() -> wire.connections() > 0);
            wire.speakAgain(); // the bytes of the first attempt are lost: it never ends

            assertThat(connected.get(1, TimeUnit.MINUTES)).isTrue();
            assertThat(wire.connections()).isGreaterThan(1);
        }
    }

    @Test
    void beforeItRunsAFailureIsReportedAtOnce() throws Exception {
        Wire wire = new Wire();
        PGSimpleDataSource driver = new PGSimpleDataSource();
        driver.setURL(wire.jdbcUrl());
        wire.close();

        assertThatThrownBy(() -> new ReconnectingDataSource(driver).getConnection())
                .isInstanceOf(SQLException.class);
    }

    @Test
    void silentDatabaseDoesNotKeepTheStartForEver() throws Exception {
        try (Wire wire = new Wire()) {
            PGSimpleDataSource driver = new PGSimpleDataSource();
            driver.setURL(wire.jdbcUrl());
            wire.fallSilent();

            assertThatThrownBy(() -> new ReconnectingDataSource(driver)
                            .connect(Credentials.of(null, null), Duration.ofMillis(300)))
                    .isInstanceOf(SQLException.class)
                    .hasMessage("the database does not answer");
        }
    }

    @Test
    void wrongUserIsReportedAtOnce() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(TestPostgres.instance().jdbcUrl().replaceAll("\\?.*", ""));
        ReconnectingDataSource database = ReconnectingDataSource.of(config);
        database.keepTrying();

        assertThatThrownBy(() -> database.getConnection("nobody", "wrong"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("nobody");
    }
}
