package dev.ratelimit.benchmark.filter;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.bucket4j.distributed.jdbc.PrimaryKeyMapper;
import io.github.bucket4j.postgresql.Bucket4jPostgreSQL;
import jakarta.servlet.Filter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Takes the filters of this project out of the sample, and puts one of Bucket4j in. */
@Configuration(proxyBeanMethods = false)
public class Bucket4jConfiguration {

    private static final String TABLE = "http_bucket4j";

    /** All classes that the sample needs in addition. */
    public static List<Class<?>> parts() {
        return List.of(Bucket4jConfiguration.class, Bucket4jFilter.class, WithoutOurFilters.class);
    }

    @Bean
    Filter bucket4jFilter(
            @Value("${bucket4j.url}") String url,
            @Value("${bucket4j.pool-size}") int poolSize,
            @Value("${bucket4j.burst}") long burst)
            throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(poolSize);
        HikariDataSource pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE " + TABLE + " (id TEXT PRIMARY KEY, state BYTEA)");
        }
        return new Bucket4jFilter(
                Bucket4jPostgreSQL.selectForUpdateBasedBuilder(pool)
                        .table(TABLE)
                        .primaryKeyMapper(PrimaryKeyMapper.STRING)
                        .build(),
                burst);
    }

    @Bean
    static BeanPostProcessor withoutOurFilters() {
        return new WithoutOurFilters();
    }
}
