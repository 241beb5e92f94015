package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** A wrapper that does not show its HikariCP pool: nothing implements {@code unwrap} for it. */
class HiddenPoolTest {

    private static final String URL = TestPostgres.instance().jdbcUrl();

    private HikariDataSource pool = pool(URL);

    private final DataSource wrapper = wrapper(connection -> connection);

    private interface Treatment {
        Connection of(Connection connection) throws SQLException;
    }

    private static HikariDataSource pool(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(2);
        return pool;
    }

    private DataSource wrapper(Treatment treatment) {
        return new AbstractDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                return treatment.of(pool.getConnection());
            }

            @Override
            public Connection getConnection(String username, String password) throws SQLException {
                throw new SQLException("not supported");
            }
        };
    }

    @AfterEach
    void close() {
        pool.close();
    }

    private static LimiterConnections open(DataSource dataSource) {
        return new PostgresSource.Application(dataSource).open("ratelimit", 2, 2);
    }

    private static String user(DataSource connections) {
        return new JdbcTemplate(connections).queryForObject("SELECT current_user", String.class);
    }

    private static String role() {
        String name = TestPostgres.instance().freshSchema();
        new JdbcTemplate(TestPostgres.instance().dataSource())
                .execute("CREATE ROLE " + name + " LOGIN PASSWORD '" + name + "'");
        return name;
    }

    @Test
    void connectionsAreMadeAsThoseOfThePool() throws Exception {
        pool.addDataSourceProperty("options", "-c work_mem=1234kB");
        assertThat(ApplicationDataSource.hikari(wrapper)).as("hidden").isNull();
        try (LimiterConnections own = open(wrapper)) {
            assertThat(own).isInstanceOf(BoundedWaitPool.class);
            assertThat(new JdbcTemplate(own).queryForObject("SHOW work_mem", String.class))
                    .isEqualTo("1234kB");
            assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                    .as("borrowed")
                    .isZero();
        }
    }

    /** A pool of the limiter's own would have the rights of the user, not those of the role. */
    @Test
    void wrapperThatSetsARoleLendsItsConnections() throws Exception {
        String role = role();
        DataSource setsRole = wrapper(connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET ROLE " + role);
            }
            return connection;
        });
        try (LimiterConnections borrowed = open(setsRole)) {
            assertThat(borrowed).isInstanceOf(BorrowedConnections.class);
            assertThat(user(borrowed)).isEqualTo(role);
        }
    }

    @Test
    void wrapperThatHidesItsConnectionsTooLendsThem() throws Exception {
        DataSource hidesAll = wrapper(HiddenPoolTest::hidden);
        try (LimiterConnections borrowed = open(hidesAll)) {
            assertThat(borrowed).isInstanceOf(BorrowedConnections.class);
            assertThat(user(borrowed)).isEqualTo(user(pool));
        }
    }

    private static Connection hidden(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                HiddenPoolTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("isWrapperFor")) {
                        return false;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    /** Such as one that rotates its credentials with a new pool. */
    @Test
    void poolThatTheWrapperHasReplacedIsFoundAgain() throws Exception {
        String first = role();
        String second = role();
        String url = URL.replaceAll("[?&](user|password)=[^&]*", "");
        pool.setJdbcUrl(url);
        pool.setCredentials(Credentials.of(first, first));
        try (LimiterConnections own = open(wrapper)) {
            assertThat(user(own)).isEqualTo(first);

            HikariDataSource replaced = pool;
            pool = pool(url);
            pool.setCredentials(Credentials.of(second, second));
            replaced.close();
            ((BoundedWaitPool) own).getHikariPoolMXBean().softEvictConnections();

            assertThat(user(own)).isEqualTo(second);
        }
    }
}
