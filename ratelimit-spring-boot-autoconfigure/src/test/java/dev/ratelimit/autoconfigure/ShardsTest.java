package dev.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.startup.ConfigurationFailureAnalyzer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.convert.ConversionException;

/** An application on several PostgreSQL databases. */
class ShardsTest {

    private static final List<String> DATABASES = List.of("shard_a", "shard_b");

    private final String schema = TestPostgres.instance().freshSchema();

    @BeforeAll
    static void createDatabases() throws SQLException {
        for (String database : DATABASES) {
            execute(TestPostgres.instance().jdbcUrl(), "DROP DATABASE IF EXISTS " + database);
            execute(TestPostgres.instance().jdbcUrl(), "CREATE DATABASE " + database);
        }
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String url(String database) {
        return TestPostgres.instance().jdbcUrl().replaceFirst("/[^/?]*\\?", "/" + database + "?");
    }

    private ApplicationContextRunner application() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        RateLimitAutoConfiguration.class,
                        RateLimitPolicyAutoConfiguration.class,
                        RateLimitAuditAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.store.deadline=10s",
                        "ratelimit.limits.calls.algorithm=fixed-window",
                        "ratelimit.limits.calls.max-requests=5",
                        "ratelimit.limits.calls.window=1h");
    }

    @Test
    void everySubjectIsCountedInOneOfThem() {
        application()
                .withPropertyValues(
                        "ratelimit.store.postgresql.shards.a=" + url("shard_a"),
                        "ratelimit.store.postgresql.shards.b=" + url("shard_b"))
                .run(context -> {
                    RateLimiter limiter = context.getBean(RateLimiter.class);
                    for (int i = 0; i < 40; i++) {
                        assertThat(limiter.decide(Subject.user("user" + i), "calls")
                                        .allowed())
                                .isTrue();
                    }

                    assertThat(names(context.getBean(LimitStore.class))).containsExactly("a", "b");
                    int first = count("shard_a");
                    int second = count("shard_b");
                    assertThat(first).isPositive();
                    assertThat(second).isPositive();
                    assertThat(first + second).isEqualTo(40);
                });
    }

    private static List<String> names(LimitStore store) {
        return ((ShardedLimitStore) store)
                .shards().stream().map(shard -> shard.name()).toList();
    }

    private int count(String database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(database));
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT count(*) FROM " + schema + ".rate_limits WHERE user_id LIKE 'user:user%'")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    void shardsOfAListAreNamedByHostAndDatabase() {
        application()
                .withPropertyValues(
                        "ratelimit.store.postgresql.shards[0]=" + url("shard_a"),
                        "ratelimit.store.postgresql.shards[1]=" + url("shard_b"))
                .run(context -> {
                    String host = url("shard_a").replaceFirst("jdbc:postgresql://([^/]*)/.*", "$1");
                    assertThat(names(context.getBean(LimitStore.class)))
                            .containsExactly(host + "/shard_a", host + "/shard_b");
                });
    }

    @Test
    void shardThatIsMissingIsNamed() {
        application()
                .withPropertyValues(
                        "ratelimit.store.postgresql.shards.a=" + url("shard_a"),
                        "ratelimit.store.postgresql.shards.b=" + url("shard_b"))
                .run(context -> assertThat(context).hasNotFailed());

        application()
                .withPropertyValues("ratelimit.store.postgresql.shards.a=" + url("shard_a"))
                .run(context -> {
                    Throwable cause = NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure());
                    FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(cause);
                    assertThat(analysis.getDescription())
                            .contains("Property: ratelimit.store.postgresql.shards\n    Value: 'a'");
                    assertThat(analysis.getAction()).startsWith("Put shard 'b' back");
                });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "shards[0]=jdbc:postgresql://one/app?password=x shards[1]=jdbc:postgresql://ONE:5432/app"
                        + "| ratelimit.store.postgresql.shards[1] | two shards must not share one",
                "shards[0]=jdbc:postgresql://one/app url=jdbc:postgresql://one/app?password=secret"
                        + "| ratelimit.store.postgresql.url | remove ratelimit.store.postgresql.shards",
                "shards[0]=localhost:5432 | ratelimit.store.postgresql.shards[0] | Write a JDBC URL",
            })
    void mistakesAreNamed(String properties, String property, String advice) {
        ApplicationContextRunner application = application();
        for (String one : properties.split(" ")) {
            application = application.withPropertyValues("ratelimit.store.postgresql." + one);
        }
        application.run(context -> {
            Throwable cause = NestedExceptionUtils.getMostSpecificCause(context.getStartupFailure());
            assertThat(cause).isInstanceOf(InvalidPropertyException.class);
            FailureAnalysis analysis = new ConfigurationFailureAnalyzer(null).analyze(cause);
            assertThat(analysis.getDescription())
                    .contains("Property: " + property)
                    .doesNotContain("secret");
            assertThat(analysis.getAction()).contains(advice);
        });
    }

    /** For Spring Boot 4.0 it is no map at all. */
    @Test
    void emptyListIsNamed() {
        application()
                .withPropertyValues("ratelimit.store.postgresql.shards=")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .matches(
                                cause -> cause instanceof ConversionException
                                        || new ConfigurationFailureAnalyzer(null)
                                                .analyze(cause)
                                                .getAction()
                                                .contains("Write the JDBC URLs of the databases"),
                                "names the remedy"));
    }
}
