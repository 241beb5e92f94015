package orders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.testing.postgres.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

class OrdersDatabaseTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(OrdersDatabase.class)
    static class Application {

        /** Never answers: nobody asks it. */
        @Bean
        DataSource other() {
            PGSimpleDataSource other = new PGSimpleDataSource();
            other.setUrl("jdbc:postgresql://localhost:1/other");
            return other;
        }
    }

    @Test
    void markedDatabaseKeepsTheCounts() {
        String schema = TestPostgres.instance().freshSchema();
        new ApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withPropertyValues(
                        "orders.url=" + TestPostgres.instance().jdbcUrl(),
                        "ratelimit.store.postgresql.schema=" + schema,
                        "ratelimit.limits.api.algorithm=fixed-window",
                        "ratelimit.limits.api.max-requests=5",
                        "ratelimit.limits.api.window=1h")
                .run(context -> {
                    context.getBean(RateLimiter.class).decide(Subject.user("alice"), "api");
                    try (Connection connection =
                                    TestPostgres.instance().dataSource().getConnection();
                            ResultSet row = connection
                                    .createStatement()
                                    .executeQuery("SELECT user_id FROM \"" + schema
                                            + "\".rate_limits WHERE algorithm <> ''")) {
                        assertThat(row.next()).isTrue();
                        assertThat(row.getString(1)).isEqualTo("user:alice");
                    }
                });
    }
}
