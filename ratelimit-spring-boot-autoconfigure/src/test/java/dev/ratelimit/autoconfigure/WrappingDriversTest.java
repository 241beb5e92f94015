package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.p6spy.engine.spy.P6DataSource;
import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.startup.DataSourceFailureAnalyzer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** Drivers that log, or find the right server, in front of PostgreSQL; and a database that is not supported. */
class WrappingDriversTest {

    private static final String URL = TestPostgres.instance().jdbcUrl();

    @TempDir
    Path folder;

    private final String schema = TestPostgres.instance().freshSchema();

    private ApplicationContextRunner application(Supplier<DataSource> dataSource) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitPolicyAutoConfiguration.class))
                .withBean(DataSource.class, dataSource)
                .withPropertyValues(
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.calls.algorithm=fixed-window",
                        "ratelimit.limits.calls.max-requests=2",
                        "ratelimit.limits.calls.window=3660d");
    }

    static Stream<Named<Supplier<DataSource>>> wrapped() {
        return Stream.of(
                Named.of("p6spy by its address", () -> hikari(URL.replace("jdbc:", "jdbc:p6spy:"))),
                Named.of("p6spy around a pool", () -> new P6DataSource(hikari(URL))),
                Named.of("the wrapper of AWS", () -> hikari(URL.replace("jdbc:", "jdbc:aws-wrapper:"))),
                Named.of("Testcontainers", () -> hikari(ContainerDriver.URL)));
    }

    /**
     * Stands in for the driver of Testcontainers, which needs Docker. That one starts a container for each URL that it has not
     * seen before.
     */
    private static final class ContainerDriver extends ForwardingDriver {

        private static final String PREFIX = "jdbc:tc:";
        private static final String URL = PREFIX + "postgresql:18:///shop?TC_REUSABLE=true";

        private final Set<String> urls = ConcurrentHashMap.newKeySet();

        private ContainerDriver() {
            super(PREFIX);
        }

        @Override
        String target(String url) {
            urls.add(url);
            return WrappingDriversTest.URL;
        }
    }

    private static final ContainerDriver CONTAINERS = new ContainerDriver();

    /** Registered by its jar, as in applications that test with containers. */
    private static final List<Driver> REPLACED = DriverManager.drivers()
            .filter(driver -> driver.getClass().getName().startsWith("org.testcontainers."))
            .toList();

    @BeforeAll
    static void replaceTheDriverOfTestcontainers() throws SQLException {
        for (Driver driver : REPLACED) {
            DriverManager.deregisterDriver(driver);
        }
        DriverManager.registerDriver(CONTAINERS);
    }

    @AfterAll
    static void putItBack() throws SQLException {
        DriverManager.deregisterDriver(CONTAINERS);
        for (Driver driver : REPLACED) {
            DriverManager.registerDriver(driver);
        }
    }

    /** Another URL would be another container, with counts of its own. */
    @Test
    void urlOfTestcontainersIsNotChanged() {
        CONTAINERS.urls.clear();
        Supplier<DataSource> ofTheApplication = () -> hikari(ContainerDriver.URL);
        application(ofTheApplication).run(context -> {
            assertThat(decided(context.getBean(RateLimiter.class))).isEqualTo(Outcome.ALLOWED);
            assertThat(CONTAINERS.urls).containsExactly(ContainerDriver.URL);
        });
        application(ofTheApplication)
                .withPropertyValues("ratelimit.store.postgresql.url=" + ContainerDriver.URL)
                .run(context -> {
                    assertThat(decided(context.getBean(RateLimiter.class))).isEqualTo(Outcome.ALLOWED);
                    assertThat(CONTAINERS.urls).containsExactly(ContainerDriver.URL);
                });
        assertThat(folder.resolve("ratelimit.db")).doesNotExist();
    }

    private static DataSource hikari(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(4);
        return pool;
    }

    @ParameterizedTest
    @MethodSource("wrapped")
    void twoInstancesShareTheCountInPostgres(Supplier<DataSource> dataSource) {
        application(dataSource)
                .run(first -> application(dataSource).run(second -> {
                    assertThat(first).hasNotFailed();
                    assertThat(second).hasNotFailed();
                    assertThat(decided(first.getBean(RateLimiter.class))).isEqualTo(Outcome.ALLOWED);
                    assertThat(decided(second.getBean(RateLimiter.class))).isEqualTo(Outcome.ALLOWED);
                    assertThat(decided(first.getBean(RateLimiter.class))).isEqualTo(Outcome.THROTTLED);
                }));
        assertThat(folder.resolve("ratelimit.db")).doesNotExist();
        assertThat(new JdbcTemplate(TestPostgres.instance().dataSource())
                        .queryForObject(
                                "SELECT request_count FROM " + schema + ".rate_limits WHERE user_id = 'user:alice'",
                                Long.class))
                .isEqualTo(2);
    }

    private static Outcome decided(RateLimiter limiter) {
        return limiter.decide(Subject.user("alice"), "calls").outcome();
    }

    /** Stands in for a server that tests cannot start: only its name matters. */
    private static final class NamedLikeMySql extends AbstractDataSource {

        @Override
        public Connection getConnection() {
            return answering(Connection.class, "getMetaData", metaData());
        }

        private static DatabaseMetaData metaData() {
            return answering(DatabaseMetaData.class, "getDatabaseProductName", "MySQL");
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return getConnection();
        }

        private static <T> T answering(Class<T> type, String method, Object answer) {
            return type.cast(Proxy.newProxyInstance(
                    type.getClassLoader(), new Class<?>[] {type}, (proxy, called, arguments) -> {
                        if (called.getName().equals(method)) {
                            return answer;
                        }
                        Class<?> returned = called.getReturnType();
                        return returned == int.class ? 8 : returned == boolean.class ? Boolean.FALSE : null;
                    }));
        }
    }

    @Test
    void mySqlStopsTheStartUnlessAnotherStoreIsNamed() {
        application(NamedLikeMySql::new).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = new DataSourceFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .contains("the DataSource of your application leads to an unsupported database MySQL");
            assertThat(analysis.getAction()).contains("set ratelimit.store.type to sqlite");
        });
        assertThat(folder.resolve("ratelimit.db")).doesNotExist();

        application(NamedLikeMySql::new)
                .withPropertyValues("ratelimit.store.type=sqlite")
                .run(context -> assertThat(context.getBean(LimitStore.class)).isInstanceOf(SqliteLimitStore.class));
    }
}
