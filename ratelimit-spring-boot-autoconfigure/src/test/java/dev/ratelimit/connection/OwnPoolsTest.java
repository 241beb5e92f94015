package dev.ratelimit.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.SocketFactory;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.core.SocketFactoryFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A pool of the limiter's own makes connections as the application's pool does. */
class OwnPoolsTest {

    private static final String URL = TestPostgres.instance().jdbcUrl();

    private final HikariDataSource application = new HikariDataSource();

    OwnPoolsTest() {
        application.setJdbcUrl(URL);
        application.setMaximumPoolSize(2);
    }

    @AfterEach
    void close() {
        application.close();
    }

    private BoundedWaitPool open() {
        return (BoundedWaitPool) new PostgresSource.Application(application).open("ratelimit", 3, 3);
    }

    /** The sockets of the application: a network that only it knows the way through. */
    public static final class CountingSockets extends SocketFactory {

        static final AtomicInteger OPENED = new AtomicInteger();

        private final SocketFactory plain;

        public CountingSockets() throws Exception {
            plain = SocketFactoryFactory.getSocketFactory(new Properties());
        }

        @Override
        public Socket createSocket() throws IOException {
            OPENED.incrementAndGet();
            return plain.createSocket();
        }

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            return plain.createSocket(host, port);
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress local, int localPort) throws IOException {
            return plain.createSocket(host, port, local, localPort);
        }

        @Override
        public Socket createSocket(InetAddress host, int port) throws IOException {
            return plain.createSocket(host, port);
        }

        @Override
        public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) throws IOException {
            return plain.createSocket(host, port, local, localPort);
        }
    }

    @Test
    void driverPropertiesAreThoseOfTheApplication() throws SQLException {
        application.addDataSourceProperty("socketFactory", CountingSockets.class.getName());
        application.addDataSourceProperty("options", "-c work_mem=1234kB");
        application.setConnectionInitSql("SET statement_timeout = '77s'");
        int before = CountingSockets.OPENED.get();
        try (BoundedWaitPool own = open();
                Connection connection = own.getConnection()) {
            assertThat(setting(connection, "work_mem")).isEqualTo("1234kB");
            assertThat(setting(connection, "statement_timeout")).isEqualTo("77s");
            assertThat(setting(connection, "application_name")).isEqualTo("ratelimit");
            assertThat(CountingSockets.OPENED.get()).isGreaterThan(before);
        }
        assertThat(application.getDataSourceProperties()).hasSize(2);
        assertThat(application.getJdbcUrl()).isEqualTo(URL);
    }

    @Test
    void nameThatTheApplicationHasChosenStays() throws SQLException {
        application.addDataSourceProperty("ApplicationName", "shop");
        try (BoundedWaitPool own = open();
                Connection connection = own.getConnection()) {
            assertThat(setting(connection, "application_name")).isEqualTo("shop");
        }
    }

    @Test
    void settingsOfThePoolItselfAreNotThoseOfTheApplication() throws SQLException {
        application.setPoolName("shop");
        application.setAutoCommit(false);
        application.setReadOnly(true);
        application.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        application.setLeakDetectionThreshold(5_000);
        application.setInitializationFailTimeout(-1);
        application.setMinimumIdle(1);
        application.setMaxLifetime(60_000);
        application.getConnection().close(); // from now on it is sealed
        try (BoundedWaitPool own = open();
                Connection connection = own.getConnection()) {
            assertThat(own.getPoolName()).isEqualTo("ratelimit");
            assertThat(own.getMaximumPoolSize()).isEqualTo(3);
            assertThat(own.getMaxLifetime()).isEqualTo(60_000);
            assertThat(own.getLeakDetectionThreshold()).isZero();
            assertThat(connection.getAutoCommit()).isTrue();
            assertThat(connection.isReadOnly()).isFalse();
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
        }
        assertThat(application.getMaximumPoolSize()).isEqualTo(2);
    }

    @Test
    void credentialsAreReadForEachNewConnection() throws SQLException {
        String first = role();
        String second = role();
        application.setJdbcUrl(URL.replaceAll("[?&](user|password)=[^&]*", ""));
        application.setCredentials(Credentials.of(first, first));
        try (BoundedWaitPool own = open()) {
            assertThat(user(own)).isEqualTo(first);
            awaitAllConnections(own);

            application.setCredentials(Credentials.of(second, second));
            own.getHikariPoolMXBean().softEvictConnections();
            assertThat(user(own)).isEqualTo(second);
        }
    }

    @Test
    void providerOfCredentialsIsThatOfTheApplication() throws SQLException {
        String first = role();
        String second = role();
        AtomicReference<String> now = new AtomicReference<>(first);
        application.setJdbcUrl(URL.replaceAll("[?&](user|password)=[^&]*", ""));
        application.setCredentialsProvider(() -> Credentials.of(now.get(), now.get()));
        try (BoundedWaitPool own = open()) {
            assertThat(user(own)).isEqualTo(first);
            awaitAllConnections(own);

            now.set(second);
            own.getHikariPoolMXBean().softEvictConnections();
            assertThat(user(own)).isEqualTo(second);
        }
    }

    private static String role() {
        String name = TestPostgres.instance().freshSchema();
        new JdbcTemplate(TestPostgres.instance().dataSource())
                .execute("CREATE ROLE " + name + " LOGIN PASSWORD '" + name + "'");
        return name;
    }

    /** One that is being opened would have the earlier credentials. */
    private static void awaitAllConnections(BoundedWaitPool pool) {
        Awaitility.await().until(() -> pool.getHikariPoolMXBean().getTotalConnections() == 3);
    }

    private static String user(BoundedWaitPool pool) throws SQLException {
        return new JdbcTemplate(pool).queryForObject("SELECT current_user", String.class);
    }

    /** As if the first connections of a pool had been silent for longer than HikariCP waits. */
    private static DataSource losing(int connections, AtomicInteger opened) {
        return new DelegatingDataSource(new DriverManagerDataSource(URL)) {

            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                int number = opened.incrementAndGet();
                // The first one only shows that the database is there.
                return number > 1 && number <= 1 + connections ? lost(connection) : connection;
            }
        };
    }

    private static Connection lost(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                OwnPoolsTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getTransactionIsolation")) {
                        connection.close();
                        throw new SQLException("An I/O error occurred while sending to the backend.", "08006");
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void connectionThatAnswersTooLateAtTheStartIsOpenedAgain() throws SQLException {
        AtomicInteger opened = new AtomicInteger();
        try (LimiterConnections own = OwnPools.over(losing(2, opened), "ratelimit", 1, 1);
                Connection connection = own.getConnection()) {
            assertThat(setting(connection, "application_name")).isNotNull();
        }
        assertThat(opened.get()).isGreaterThanOrEqualTo(4);
    }

    @Test
    void settingThatFailsOnEachConnectionIsReportedAtOnce() {
        application.setConnectionInitSql("SET no_such_setting = 1");
        assertThatThrownBy(this::open).isInstanceOf(LimitStoreException.class).hasMessageContaining("no_such_setting");
    }

    private static String setting(Connection connection, String name) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SHOW " + name)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void statementsArePreparedAtOnceUnlessTheApplicationHasSetIt() throws SQLException {
        assertThat(thresholdIfPreparedAtOnce()).isEqualTo(1);
        application.setJdbcUrl(URL + "&prepareThreshold=0");
        assertThat(thresholdIfPreparedAtOnce()).isZero();
        application.setJdbcUrl(URL + "&prepareThreshold=3");
        assertThat(thresholdIfPreparedAtOnce()).isEqualTo(3);
    }

    private int thresholdIfPreparedAtOnce() throws SQLException {
        try (BoundedWaitPool own = open()) {
            own.prepareAtOnce();
            try (Connection connection = own.getConnection()) {
                return connection.unwrap(PGConnection.class).getPrepareThreshold();
            }
        }
    }
}
