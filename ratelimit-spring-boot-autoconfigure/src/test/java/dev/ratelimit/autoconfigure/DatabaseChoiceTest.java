package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.mockStatic;
import static org.mockito.Mockito.when;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.database.PolicyConnections;
import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import dev.ratelimit.startup.DataSourceFailureAnalyzer;
import dev.ratelimit.startup.StoreFailureAnalyzer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.jdbc.DatabaseProduct;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.MockedStatic;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.sqlite.SQLiteDataSource;

/** Which database keeps the limits of an application, by the data sources that it has. */
@ExtendWith(OutputCaptureExtension.class)
class DatabaseChoiceTest {

    private static final String URL = TestPostgres.instance().jdbcUrl();

    @TempDir
    Path folder;

    private final String schema = TestPostgres.instance().freshSchema();

    private ApplicationContextRunner application() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.calls.algorithm=fixed-window",
                        "ratelimit.limits.calls.max-requests=10",
                        "ratelimit.limits.calls.window=3660d");
    }

    // PostgreSQL, whatever the way to it

    static Stream<Named<Supplier<DataSource>>> postgres() {
        return Stream.of(
                Named.of("HikariCP with an address", () -> hikari(URL)),
                Named.of("HikariCP with a class", DatabaseChoiceTest::hikariWithAClass),
                Named.of("HikariCP with a data source", DatabaseChoiceTest::hikariOverADataSource),
                Named.of("HikariCP with a wrapping driver", DatabaseChoiceTest::hikariWithAWrappingDriver),
                Named.of("a wrapper that hides HikariCP", () -> new Opaque(hikari(URL))),
                Named.of("PGSimpleDataSource", DatabaseChoiceTest::simple),
                Named.of("DriverManagerDataSource", () -> new DriverManagerDataSource(URL)),
                Named.of("DBCP", DatabaseChoiceTest::dbcp),
                Named.of("a lazy proxy", () -> new LazyConnectionDataSourceProxy(dbcp())));
    }

    private static HikariDataSource hikari(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(2);
        return pool;
    }

    private static DataSource hikariWithAClass() {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSourceClassName(PGSimpleDataSource.class.getName());
        pool.addDataSourceProperty("url", URL);
        pool.setMaximumPoolSize(2);
        return pool;
    }

    private static DataSource hikariOverADataSource() {
        HikariDataSource pool = new HikariDataSource();
        pool.setDataSource(new Opaque(simple()));
        pool.setMaximumPoolSize(2);
        return pool;
    }

    private static DataSource hikariWithAWrappingDriver() {
        HikariDataSource pool = hikari(WrappingDriver.PREFIX + URL);
        pool.setDriverClassName(WrappingDriver.class.getName());
        return pool;
    }

    private static PGSimpleDataSource simple() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(URL);
        return dataSource;
    }

    private static BasicDataSource dbcp() {
        BasicDataSource pool = new BasicDataSource();
        pool.setUrl(URL);
        pool.setMaxTotal(8);
        return pool;
    }

    /** As wrappers are that measure or log. */
    private static final class Opaque extends DelegatingDataSource {

        private Opaque(DataSource target) {
            super(target);
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }

    /** As proxies are whose connections show nothing of what is behind them. */
    private static final class HiddenDriver extends DelegatingDataSource {

        private HiddenDriver(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection target = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("isWrapperFor")) {
                            return false;
                        }
                        try {
                            return method.invoke(target, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getTargetException();
                        }
                    });
        }
    }

    /** As drivers are that log, or find the right server, before they call another driver. */
    public static final class WrappingDriver extends ForwardingDriver {

        static final String PREFIX = "jdbc:wrapping:";

        public WrappingDriver() {
            super(PREFIX);
        }

        @Override
        String target(String url) {
            return url.substring(PREFIX.length());
        }
    }

    @ParameterizedTest
    @MethodSource("postgres")
    void postgresIsRecognisedWhateverTheDataSource(Supplier<DataSource> dataSource) {
        application().withBean(DataSource.class, dataSource).run(context -> {
            assertThat(context).hasNotFailed();
            assertStateIsInPostgres(context.getBean(RateLimiter.class));
        });
    }

    private void assertStateIsInPostgres(RateLimiter limiter) {
        assertThat(limiter.decide(Subject.user("alice"), "calls").outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(folder.resolve("ratelimit.db")).doesNotExist();
        assertThat(new JdbcTemplate(simple())
                        .queryForObject(
                                "SELECT request_count FROM " + schema + ".rate_limits WHERE user_id = 'user:alice'",
                                Long.class))
                .isEqualTo(1);
    }

    /** A decision must not end the transaction of the application, nor be rolled back with it. */
    @Test
    void decisionDoesNotJoinATransactionOfTheApplication() {
        DataSource pool = dbcp();
        DataSource joining = new TransactionAwareDataSourceProxy(pool);
        JdbcTemplate template = new JdbcTemplate(joining);
        template.execute("CREATE SCHEMA " + schema);
        template.execute("CREATE TABLE " + schema + ".notes (text text)");
        application().withBean(DataSource.class, () -> joining).run(context -> {
            RateLimiter limiter = context.getBean(RateLimiter.class);
            new TransactionTemplate(new JdbcTransactionManager(pool)).executeWithoutResult(status -> {
                template.update("INSERT INTO " + schema + ".notes VALUES ('rolled back')");
                assertStateIsInPostgres(limiter);
                status.setRollbackOnly();
            });

            assertThat(template.queryForObject("SELECT count(*) FROM " + schema + ".notes", Long.class))
                    .isZero();
            assertThat(limiter.decide(Subject.user("alice"), "calls").remaining())
                    .isEqualTo(8);
        });
    }

    @ParameterizedTest
    @CsvSource({"auto, true", "none, true", "transaction, false"})
    void poolerIsTheOneThatIsNamed(String pooler, boolean canListen, CapturedOutput output) {
        application()
                .withConfiguration(AutoConfigurations.of(RateLimitPolicyAutoConfiguration.class))
                .withBean(DataSource.class, () -> hikari(URL))
                .withPropertyValues("ratelimit.store.postgresql.pooler=" + pooler)
                .run(context -> {
                    assertThat(context.getBean(PolicyConnections.class).canListen())
                            .isEqualTo(canListen);
                    assertThat(output.getAll()
                                    .contains("Using PostgreSQL behind a transaction pooler"
                                            + " (ratelimit.store.postgresql.pooler: transaction)"))
                            .isNotEqualTo(canListen);
                    assertStateIsInPostgres(context.getBean(RateLimiter.class));
                });
    }

    /** Two are compared to find a pooler. */
    @Test
    void poolOfOneConnectionIsEnough(CapturedOutput output) {
        application()
                .withBean(DataSource.class, () -> {
                    BasicDataSource pool = dbcp();
                    pool.setMaxTotal(1);
                    return new HiddenDriver(pool);
                })
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertStateIsInPostgres(context.getBean(RateLimiter.class));
                });
        assertThat(output)
                .containsOnlyOnce("Could not find out whether a pooler shares connections to PostgreSQL by transaction")
                .contains("Set ratelimit.store.postgresql.pooler to none or transaction")
                .doesNotContain("Found PostgreSQL behind a transaction pooler");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void preparedStatementsAreNotPromisedWhereTheDriverIsHidden(boolean shown, CapturedOutput output) {
        application()
                .withBean(DataSource.class, () -> shown ? dbcp() : new HiddenDriver(dbcp()))
                .withPropertyValues("ratelimit.store.postgresql.pooler=transaction")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("polling for changes of limits and rules instead of listening");
        assertThat(output.getAll().contains("preparing no statements on the server"))
                .isEqualTo(shown);
        assertThat(output.getAll().contains("add prepareThreshold=0 to the URL"))
                .isNotEqualTo(shown);
    }

    /** A connection of the application is not held all the time. */
    @Test
    void changesAreNotListenedForOnABorrowedConnection() {
        application()
                .withConfiguration(AutoConfigurations.of(RateLimitPolicyAutoConfiguration.class))
                .withBean(DataSource.class, DatabaseChoiceTest::dbcp)
                .run(context -> {
                    assertThat(context.getBean(PolicyConnections.class).canListen())
                            .isFalse();
                    assertStateIsInPostgres(context.getBean(RateLimiter.class));
                });
    }

    // Several

    @Configuration(proxyBeanMethods = false)
    static class Two {

        @Bean
        DataSource orders() {
            return simple();
        }

        @Bean
        DataSource reports() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneOfTwoIsMarked {

        @Bean
        @RateLimitDataSource
        DataSource orders() {
            return simple();
        }

        @Bean
        @Primary
        DataSource reports() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneOfTwoIsPrimary {

        @Bean
        @Primary
        DataSource orders() {
            return simple();
        }

        @Bean
        DataSource reports() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class BothAreMarked {

        @Bean
        @RateLimitDataSource
        DataSource orders() {
            return simple();
        }

        @Bean
        @RateLimitDataSource
        DataSource reports() {
            return simple();
        }
    }

    @Test
    void severalDataSourcesStopTheStartUnlessOneIsMarkedOrPrimary() {
        assertThatStartFails(
                application().withUserConfiguration(Two.class),
                "your application has several DataSources, and none is primary: [orders, reports]");
        assertThatStartFails(
                application().withUserConfiguration(Two.class).withPropertyValues("ratelimit.store.type=postgresql"),
                "your application has several DataSources, and none is primary: [orders, reports]");
        assertThatStartFails(
                application().withUserConfiguration(BothAreMarked.class),
                "several DataSources have the annotation @RateLimitDataSource: [orders, reports]",
                "Leave the annotation on one of them.");
        application()
                .withUserConfiguration(OneOfTwoIsMarked.class)
                .run(context -> assertStateIsInPostgres(context.getBean(RateLimiter.class)));
    }

    @Test
    void primaryDataSourceIsTheOneOfTheApplication() {
        application()
                .withUserConfiguration(OneOfTwoIsPrimary.class)
                .run(context -> assertStateIsInPostgres(context.getBean(RateLimiter.class)));
    }

    @Test
    void dataSourceThatLeadsToSeveralDatabasesStopsTheStart() {
        AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "tenant";
            }
        };
        routing.setTargetDataSources(Map.of("tenant", simple()));
        assertThatStartFails(
                application().withBean(DataSource.class, () -> routing),
                "leads to several databases. Each would have its own count.");
    }

    // Other databases

    private static JdbcDataSource h2() {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setUrl("jdbc:h2:mem:app;DB_CLOSE_DELAY=-1");
        return dataSource;
    }

    @Test
    void databaseOfAnotherProductStopsTheStartInsteadOfBeingIgnored() {
        ApplicationContextRunner onH2 = application().withBean(DataSource.class, DatabaseChoiceTest::h2);
        assertThatStartFails(onH2, "the DataSource of your application leads to an unsupported database H2 ");
        assertThatStartFails(onH2.withPropertyValues("ratelimit.store.type=postgresql"), "unsupported database H2 ");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class EverythingByDefault {}

    /** As in many tests of applications: Spring Boot finds H2 on the class path, and starts it. */
    @Test
    void embeddedDatabaseStopsTheStartWithTheWaysOut(CapturedOutput output) {
        SpringApplication spring = new SpringApplication(EverythingByDefault.class);
        spring.setWebApplicationType(WebApplicationType.NONE);

        assertThatThrownBy(() -> spring.run("--spring.flyway.enabled=false")).isInstanceOf(RuntimeException.class);

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "No database for rate limits: the DataSource of your application leads to an unsupported database H2 ",
                        "In memory, as in tests: set ratelimit.store.type to memory.");
    }

    @Test
    void databaseOfAnotherProductIsLeftAloneIfTheStoreIsNamed() {
        ApplicationContextRunner onH2 = application().withBean(DataSource.class, DatabaseChoiceTest::h2);
        onH2.withPropertyValues("ratelimit.store.postgresql.url=" + URL)
                .run(context -> assertStateIsInPostgres(context.getBean(RateLimiter.class)));
        onH2.withPropertyValues("ratelimit.store.type=memory")
                .run(context -> assertThat(context).hasSingleBean(MemoryLimitStore.class));
        onH2.withPropertyValues("ratelimit.store.type=sqlite")
                .run(context -> assertThat(context).hasSingleBean(SqliteLimitStore.class));
        onH2.withBean(LimitStore.class, MemoryLimitStore::new)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void applicationOnSqliteHasTheFileByDefault() {
        SQLiteDataSource own = new SQLiteDataSource();
        own.setUrl("jdbc:sqlite:" + folder.resolve("app.db"));
        application().withBean(DataSource.class, () -> own).run(context -> {
            assertThat(context).hasSingleBean(SqliteLimitStore.class);
            assertThat(folder.resolve("ratelimit.db")).exists();
        });
    }

    // SQLite that is too old, as Spring Boot 4.0 manages it

    private static Connection oldSqlite() throws SQLException {
        Connection connection = mock(Connection.class, RETURNS_DEEP_STUBS);
        when(connection.getMetaData().getDatabaseProductName()).thenReturn("SQLite");
        when(connection.getMetaData().getDatabaseProductVersion()).thenReturn("3.50.3");
        return connection;
    }

    @Test
    void oldSqliteStopsTheStartWithThePropertyOfItsDriver(CapturedOutput output) throws SQLException {
        Throwable refusal = catchThrowable(() -> DatabaseProduct.of(oldSqlite()));
        SpringApplication spring = new SpringApplication(EverythingByDefault.class);
        spring.setWebApplicationType(WebApplicationType.NONE);

        try (MockedStatic<DatabaseProduct> products = mockStatic(DatabaseProduct.class, CALLS_REAL_METHODS)) {
            products.when(() -> DatabaseProduct.of(any(Connection.class))).thenThrow(refusal);
            assertThatThrownBy(() -> spring.run(
                            "--spring.flyway.enabled=false",
                            "--ratelimit.store.type=sqlite",
                            "--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db")))
                    .hasStackTraceContaining("SQLite 3.50.3");
        }

        assertThat(output)
                .contains(
                        "APPLICATION FAILED TO START",
                        "No database for rate limits: unsupported database SQLite 3.50.3; use 3.51.3 or later:",
                        "Use a driver of version 3.51.3.0 or later.",
                        "sqlite-jdbc.version",
                        "set ratelimit.store.postgresql.url");
    }

    @Test
    void oldSqliteOfTheApplicationIsAnsweredWithThePropertyOfItsDriver() throws SQLException {
        DataSource own = mock(DataSource.class);
        Connection connection = oldSqlite();
        when(own.getConnection()).thenReturn(connection);
        application().withBean(DataSource.class, () -> own).run(context -> {
            FailureAnalysis analysis = new DataSourceFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .contains("the DataSource of your application leads to an unsupported database SQLite 3.50.3");
            assertThat(analysis.getAction()).contains("Use a driver of version 3.51.3.0 or later.");
        });
    }

    // Databases that are down

    private static final String NOBODY_LISTENS = "jdbc:postgresql://127.0.0.1:1/none";

    @Test
    void databaseThatIsDownIsPostgresIfItsDriverSaysSo() {
        PGSimpleDataSource down = new PGSimpleDataSource();
        down.setUrl(NOBODY_LISTENS);
        for (DataSource dataSource : new DataSource[] {down, hikari(NOBODY_LISTENS)}) {
            application().withBean(DataSource.class, () -> dataSource).run(context -> {
                FailureAnalysis analysis = new StoreFailureAnalyzer().analyze(context.getStartupFailure());
                assertThat(analysis).isNotNull();
                assertThat(analysis.getDescription()).contains("PostgreSQL cannot be reached", "127.0.0.1:1");
            });
        }
    }

    @Test
    void databaseThatIsDownAndMayBeAnyStopsTheStart() {
        assertThatStartFails(
                application().withBean(DataSource.class, () -> new DriverManagerDataSource(NOBODY_LISTENS)),
                "the DataSource of your application (" + DriverManagerDataSource.class.getName()
                        + ") could not be asked which database it leads to: Connection to 127.0.0.1:1 refused.");
        assertThat(folder.resolve("ratelimit.db")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({
        "postgres://app:secret@localhost/app, postgres:…",
        "jdbc:postgres://localhost/app?password=secret, jdbc:postgres:…",
        "localhost/app, …"
    })
    void addressThatIsNoJdbcUrlIsNotTakenForAMissingDriver(String url, String shown) {
        application()
                .withPropertyValues("ratelimit.store.postgresql.url=" + url)
                .run(context -> {
                    FailureAnalysis analysis =
                            new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .contains("Property: ratelimit.store.postgresql.url\n    Value: '" + shown + "'")
                            .doesNotContain("secret");
                    assertThat(analysis.getAction())
                            .startsWith("Write a JDBC URL such as jdbc:postgresql://HOST:5432/DATABASE")
                            .contains("ratelimit.store.postgresql.username");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {":memory:", "jdbc:sqlite:limits.db", "file:limits.db", " "})
    void pathThatIsNoneStopsTheStart(String path) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withInitializer(context -> TestPropertyValues.of(Map.of("ratelimit.store.sqlite.path", path))
                        .applyTo(context.getEnvironment()))
                .run(context -> {
                    FailureAnalysis analysis =
                            new ConfigurationFailureAnalyzer(null).analyze(context.getStartupFailure());
                    assertThat(analysis).isNotNull();
                    assertThat(analysis.getDescription())
                            .contains("Property: ratelimit.store.sqlite.path\n    Value: '" + path + "'");
                    assertThat(analysis.getAction()).startsWith("Write the path of a file, such as ratelimit.db");
                });
    }

    private static void assertThatStartFails(ApplicationContextRunner application, String problem) {
        assertThatStartFails(
                application,
                problem,
                "@RateLimitDataSource",
                "set ratelimit.store.postgresql.url",
                "set ratelimit.store.type to sqlite",
                "set ratelimit.store.type to memory");
    }

    private static void assertThatStartFails(ApplicationContextRunner application, String problem, String... remedies) {
        application.run(context -> {
            assertThat(context).hasFailed();
            assertThat(NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure()))
                    .as("Spring Boot would analyze this one instead")
                    .isNotInstanceOf(NoUniqueBeanDefinitionException.class);
            FailureAnalysis analysis = new DataSourceFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .startsWith("No database for rate limits: ")
                    .contains(problem);
            assertThat(analysis.getAction()).contains(remedies);
        });
    }
}
