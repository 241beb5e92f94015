package dev.ratelimit.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;

/** Finds out where the application's database is, without taking a connection of it. */
@AutoConfiguration(
        before = RateLimitAutoConfiguration.class,
        afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({JdbcConnectionDetails.class, HikariDataSource.class})
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
public final class ApplicationDatabaseAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(ApplicationDatabaseAutoConfiguration.class);

    @Bean
    @Nullable
    ApplicationDatabase rateLimitApplicationDatabase(
            DataSource dataSource, ObjectProvider<JdbcConnectionDetails> details) {
        HikariDataSource pool = hikari(dataSource);
        if (pool != null && pool.getJdbcUrl() != null) {
            return new ApplicationDatabase(pool.getJdbcUrl(), pool.getUsername(), pool.getPassword());
        }
        JdbcConnectionDetails known = details.getIfAvailable();
        return known == null
                ? null
                : new ApplicationDatabase(known.getJdbcUrl(), known.getUsername(), known.getPassword());
    }

    /** The pool behind the data source, or {@code null} if it is of another kind or will not say. */
    private static @Nullable HikariDataSource hikari(DataSource dataSource) {
        try {
            return dataSource.isWrapperFor(HikariDataSource.class) ? dataSource.unwrap(HikariDataSource.class) : null;
        } catch (SQLException | RuntimeException e) {
            log.info(
                    "Could not unwrap the application's data source; using its connection details: {}", e.getMessage());
            return null;
        }
    }
}
