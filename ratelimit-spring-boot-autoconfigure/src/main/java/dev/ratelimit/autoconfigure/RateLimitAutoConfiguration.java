package dev.ratelimit.autoconfigure;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.autoconfigure.RateLimitProperties.Sqlite;
import dev.ratelimit.autoconfigure.RateLimitProperties.StoreType;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.schema.Schema;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.jdbc.SqliteFile;
import dev.ratelimit.store.jdbc.SqliteLimitStore;
import dev.ratelimit.upkeep.Upkeep;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;

/** The limiter and what it needs: limits, a store, upkeep. */
@AutoConfiguration(afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@EnableConfigurationProperties(RateLimitProperties.class)
public final class RateLimitAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitAutoConfiguration.class);

    @Bean
    @ConditionalOnMissingBean
    Limits rateLimits(RateLimitProperties properties) {
        return new ConfiguredLimits(properties.limits()).limits();
    }

    /** After the application's own migrations, which would refuse a schema that is not empty. */
    @Bean
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    LimitStore rateLimitStore(RateLimitProperties properties, ObjectProvider<ApplicationDatabase> application) {
        RateLimitProperties.Store store = properties.store();
        if (store.type() == StoreType.MEMORY) {
            log.info("Rate limits are kept in memory: they are lost with a restart and not shared");
            return new MemoryLimitStore();
        }
        if (store.type() == StoreType.SQLITE) {
            return sqlite(store);
        }
        LimitStore postgres = postgres(store, application.getIfAvailable());
        if (postgres != null) {
            return postgres;
        }
        if (store.type() == StoreType.POSTGRESQL) {
            throw new InvalidPropertyException(
                    "ratelimit.store.postgresql.url",
                    null,
                    "write the JDBC URL of the database, such as jdbc:postgresql://localhost/app:"
                            + " the application has no PostgreSQL data source whose address is known");
        }
        return sqlite(store);
    }

    private static @Nullable LimitStore postgres(
            RateLimitProperties.Store store, @Nullable ApplicationDatabase application) {
        String url = store.postgresql().url();
        if (url != null) {
            log.info(
                    "Rate limits are kept in PostgreSQL, schema {}",
                    store.postgresql().schema());
            return PostgresStores.open(
                    url,
                    store.postgresql().username(),
                    store.postgresql().password(),
                    store.postgresql(),
                    store.deadline());
        }
        if (application == null || !application.isPostgres()) {
            return null;
        }
        log.info(
                "Rate limits are kept in the PostgreSQL database of the application, schema {}",
                store.postgresql().schema());
        return PostgresStores.open(
                application.url(),
                application.username(),
                application.password(),
                store.postgresql(),
                store.deadline());
    }

    private static LimitStore sqlite(RateLimitProperties.Store store) {
        Sqlite settings = store.sqlite();
        SqliteFile file = SqliteFile.at(Path.of(settings.path())).synchronous(settings.synchronous());
        Schema.migrate(file);
        log.info("Rate limits are kept in the SQLite file {}", file.path());
        return new SqliteLimitStore(file.busyTimeout(store.deadline()));
    }

    @Bean
    @ConditionalOnMissingBean(RateLimiter.class)
    StoreRateLimiter rateLimiter(
            LimitStore store,
            Limits limits,
            RateLimitProperties properties,
            ObjectProvider<DecisionListener> listeners) {
        Integer groups = properties.grouping().groupsInFlight();
        int groupsInFlight = groups != null ? groups : store instanceof OwnedStore ? 2 : 1;
        Grouping grouping = InvalidPropertyException.under(
                "ratelimit.grouping.",
                () -> new Grouping(
                        groupsInFlight,
                        properties.grouping().maxGroupSize(),
                        properties.grouping().maxWaiting(),
                        Grouping.DEFAULT.deadline()));
        return new StoreRateLimiter(
                store,
                limits,
                InvalidPropertyException.under(
                        "ratelimit.store.",
                        () -> grouping.withDeadline(properties.store().deadline())),
                listeners.orderedStream().toList(),
                properties.deniedCache().enabled() ? properties.deniedCache().maxSize() : 0);
    }

    @Bean
    @ConditionalOnMissingBean
    Upkeep rateLimitUpkeep(LimitStore store, RateLimitProperties properties) {
        return InvalidPropertyException.under(
                "ratelimit.upkeep.",
                () -> new Upkeep(store, properties.upkeep().keep())
                        .every(properties.upkeep().interval()));
    }
}
