package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.convert.converter.Converter;
import org.springframework.data.annotation.Id;
import org.springframework.data.convert.ReadingConverter;
import org.springframework.data.convert.WritingConverter;
import org.springframework.data.jdbc.core.JdbcAggregateOperations;
import org.springframework.data.jdbc.core.convert.JdbcConverter;
import org.springframework.data.jdbc.repository.config.AbstractJdbcConfiguration;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.relational.RelationalManagedTypes;
import org.springframework.data.relational.core.mapping.RelationalMappingContext;
import org.springframework.data.relational.core.mapping.Table;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application that leaves none of its database to Spring Boot keeps all of it, wherever the limits are. */
class OwnDatabaseBeansTest {

    @TempDir
    Path folder;

    /** Written in capitals in the database, by a converter of the application. */
    record Words(String text) {}

    @Table("app_notes")
    record Note(@Id Long id, Words text) {}

    interface Notes extends CrudRepository<Note, Long> {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableJdbcRepositories(considerNestedRepositories = true, transactionManagerRef = "ownTransactions")
    static class Application {

        @Bean
        DataSource ownDataSource(@Value("${own.url}") String url) {
            HikariDataSource pool = new HikariDataSource();
            pool.setPoolName("own");
            pool.setJdbcUrl(url);
            pool.setMaximumPoolSize(2);
            return pool;
        }

        /** Refuses a schema that somebody else has already put tables into. */
        @Bean(initMethod = "migrate")
        Flyway ownFlyway(DataSource dataSource, @Value("${own.schema}") String schema) {
            return Flyway.configure()
                    .dataSource(dataSource)
                    .defaultSchema(schema)
                    .table("own_history")
                    .locations("classpath:app/migration")
                    .load();
        }

        @Bean
        JdbcTransactionManager ownTransactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        JdbcTemplate ownTemplate(DataSource dataSource) {
            return new JdbcTemplate(dataSource);
        }

        @Bean
        NamedParameterJdbcTemplate ownNamedTemplate(JdbcTemplate template) {
            return new NamedParameterJdbcTemplate(template);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnSpringData extends AbstractJdbcConfiguration {

        @WritingConverter
        enum Write implements Converter<Words, String> {
            INSTANCE;

            @Override
            public String convert(Words words) {
                return words.text().toUpperCase(Locale.ROOT);
            }
        }

        @ReadingConverter
        enum Read implements Converter<String, Words> {
            INSTANCE;

            @Override
            public Words convert(String text) {
                return new Words(text);
            }
        }

        @Override
        protected List<?> userConverters() {
            return List.of(Write.INSTANCE, Read.INSTANCE);
        }
    }

    private ConfigurableApplicationContext start(String schema, String store) {
        SpringApplication spring = new SpringApplication(Application.class, OwnSpringData.class);
        spring.setWebApplicationType(WebApplicationType.NONE);
        return spring.run(
                "--spring.main.banner-mode=off",
                "--own.url=" + TestPostgres.instance().jdbcUrl() + "&currentSchema=" + schema,
                "--own.schema=" + schema,
                "--ratelimit.store.type=" + store,
                "--ratelimit.store.postgresql.schema=" + schema,
                "--ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                "--ratelimit.store.deadline=10s",
                "--ratelimit.limits.calls.algorithm=fixed-window",
                "--ratelimit.limits.calls.max-requests=10",
                "--ratelimit.limits.calls.window=3660d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "postgresql", "sqlite"})
    void applicationKeepsItsOwnOfEverything(String store) {
        String schema = TestPostgres.instance().freshSchema();
        try (ConfigurableApplicationContext application = start(schema, store)) {
            assertThat(application.getBeanNamesForType(DataSource.class)).containsExactly("ownDataSource");
            assertThat(application.getBeanNamesForType(Flyway.class)).containsExactly("ownFlyway");
            assertThat(application.getBeanNamesForType(TransactionManager.class))
                    .containsExactly("ownTransactions");
            assertThat(application.getBeanNamesForType(JdbcOperations.class)).containsExactly("ownTemplate");
            assertThat(application.getBeanNamesForType(NamedParameterJdbcOperations.class))
                    .containsExactly("ownNamedTemplate");
            assertThat(application.getBean(AbstractJdbcConfiguration.class)).isInstanceOf(OwnSpringData.class);
            for (Class<?> type : List.of(
                    JdbcConverter.class,
                    RelationalMappingContext.class,
                    RelationalManagedTypes.class,
                    JdbcAggregateOperations.class)) {
                assertThat(application.getBeanNamesForType(type))
                        .as(type.getName())
                        .hasSize(1);
            }

            JdbcTemplate template = application.getBean(JdbcTemplate.class);
            assertThat(template.queryForList("SELECT version FROM own_history WHERE type = 'SQL'", String.class))
                    .as("its migrations have run")
                    .containsExactly("1");
            assertRepositoryAndTransactionsWork(application);

            RateLimiter limiter = application.getBean(RateLimiter.class);
            assertThat(limiter.decide(Subject.user("alice"), "calls").remaining())
                    .isEqualTo(9);
            boolean inTheDatabaseOfTheApplication =
                    template.queryForObject("SELECT to_regclass('rate_limits') IS NOT NULL", Boolean.class);
            assertThat(inTheDatabaseOfTheApplication).isEqualTo(!store.equals("sqlite"));
            assertThat(Files.exists(folder.resolve("ratelimit.db"))).isEqualTo(store.equals("sqlite"));
        }
    }

    private static void assertRepositoryAndTransactionsWork(ConfigurableApplicationContext application) {
        Notes notes = application.getBean(Notes.class);
        Note saved = notes.save(new Note(null, new Words("hello")));
        assertThat(notes.findById(saved.id()).orElseThrow().text()).isEqualTo(new Words("HELLO"));

        new TransactionTemplate(application.getBean(JdbcTransactionManager.class)).executeWithoutResult(status -> {
            notes.save(new Note(null, new Words("not this one")));
            status.setRollbackOnly();
        });
        assertThat(notes.count()).isEqualTo(1);
    }
}
