package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.annotation.Id;
import org.springframework.data.jdbc.core.JdbcAggregateTemplate;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application with a PostgreSQL database, migrations, transactions and repositories of its own. */
class PostgresApplicationTest {

    /** The schema of the application and of the limits. */
    private static final String SCHEMA = TestPostgres.instance().freshSchema();

    private static final String URL = TestPostgres.instance().jdbcUrl() + "&currentSchema=" + SCHEMA;

    private static ConfigurableApplicationContext application;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Table("app_notes")
    record Note(@Id Long id, String text) {}

    @BeforeAll
    static void start() {
        SpringApplication spring = new SpringApplication(Application.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        application = spring.run(
                "--spring.main.banner-mode=off",
                "--spring.datasource.url=" + URL,
                "--spring.datasource.hikari.maximum-pool-size=2",
                "--spring.flyway.locations=classpath:app/migration",
                "--spring.flyway.default-schema=" + SCHEMA,
                "--ratelimit.store.postgresql.schema=" + SCHEMA,
                "--ratelimit.store.deadline=5s",
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=1000",
                "--ratelimit.limits.calls.window=3660d");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    private static Decision decide(String user) {
        return application.getBean(RateLimiter.class).decide(Subject.user(user), "calls");
    }

    @Test
    void stateIsInTheDatabaseOfTheApplication() {
        assertThat(decide("stored").outcome()).isEqualTo(Outcome.ALLOWED);

        assertThat(application
                        .getBean(JdbcTemplate.class)
                        .queryForObject(
                                "SELECT request_count FROM rate_limits WHERE user_id = 'user:stored'", Long.class))
                .isEqualTo(1);
    }

    @Test
    void applicationKeepsItsOwnOfEverything() {
        assertThat(application.getBeansOfType(DataSource.class)).hasSize(1);
        assertThat(application.getBeansOfType(Flyway.class)).hasSize(1);
        assertThat(application.getBeansOfType(PlatformTransactionManager.class)).hasSize(1);
        assertThat(application.getBeansOfType(JdbcTemplate.class)).hasSize(1);
        assertThat(application.getBean(HikariDataSource.class).getPoolName()).isNotEqualTo("ratelimit");
        assertThat(application
                        .getBean(JdbcTemplate.class)
                        .queryForList("SELECT version FROM flyway_schema_history WHERE type = 'SQL'", String.class))
                .containsExactly("1");

        Note saved = application.getBean(JdbcAggregateTemplate.class).insert(new Note(null, "hello"));
        assertThat(saved.id()).isNotNull();
    }

    @Test
    void decisionIsNoPartOfTheTransactionOfTheApplication() {
        TransactionTemplate transaction =
                new TransactionTemplate(application.getBean(PlatformTransactionManager.class));

        transaction.executeWithoutResult(status -> {
            decide("rolled-back");
            status.setRollbackOnly();
        });

        assertThat(decide("rolled-back").remaining()).isEqualTo(998);
    }

    @Test
    void limiterTakesNoConnectionOfTheApplication() throws Exception {
        DataSource pool = application.getBean(DataSource.class);
        try (Connection first = pool.getConnection();
                Connection second = pool.getConnection()) {
            assertThat(List.of(first, second)).hasSize(2); // that is all of the application's pool
            assertThat(decide("busy").outcome()).isEqualTo(Outcome.ALLOWED);
        }
    }

    @Test
    void lockedTableKeepsNobodyForLongerThanTheDeadline() throws Exception {
        try (ConfigurableApplicationContext hasty = impatient();
                Connection blocker = application.getBean(DataSource.class).getConnection();
                Statement statement = blocker.createStatement()) {
            RateLimiter limiter = hasty.getBean(RateLimiter.class);
            assertThat(limiter.decide(Subject.user("hasty"), "calls").outcome()).isEqualTo(Outcome.ALLOWED);
            blocker.setAutoCommit(false);
            statement.execute("LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE");

            // The lock is held until after the decision: without a deadline it would never come.
            assertThat(limiter.decide(LimitRequest.of(Subject.user("hasty"), "calls")
                                    .onFailure(FailurePolicy.CLOSED))
                            .outcome())
                    .isEqualTo(Outcome.FAILED);
            assertThat(application.getBean(JdbcTemplate.class).queryForObject("SELECT 1", Integer.class))
                    .isEqualTo(1);
            blocker.rollback();
        }
    }

    private static ConfigurableApplicationContext impatient() {
        SpringApplication spring = new SpringApplication(Application.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        return spring.run(
                "--spring.main.banner-mode=off",
                "--spring.autoconfigure.exclude=org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "--ratelimit.store.postgresql.url=" + URL,
                "--ratelimit.store.postgresql.schema=" + SCHEMA,
                "--ratelimit.store.deadline=300ms",
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=1000",
                "--ratelimit.limits.calls.window=3660d");
    }
}
