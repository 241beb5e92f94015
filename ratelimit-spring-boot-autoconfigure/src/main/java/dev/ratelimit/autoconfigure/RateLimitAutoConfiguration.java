package dev.ratelimit.autoconfigure;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.connection.ApplicationDataSource;
import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.LiveLimits;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.startup.InvalidPropertyException;
import dev.ratelimit.startup.ProbableMistakes;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.store.sqlite.SqliteLimitStore;
import dev.ratelimit.upkeep.Upkeep;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/** The limiter with its limits, store and upkeep. */
@AutoConfiguration(afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@EnableConfigurationProperties(RateLimitProperties.class)
public final class RateLimitAutoConfiguration {

    private static final int MOST_INSTANCES = 10_000;

    private static final Logger log = LoggerFactory.getLogger(RateLimitAutoConfiguration.class);

    /**
     * Asks for the policies only when a limit is asked for: they need Spring MVC, which may need the limiter. Where there
     * is no web, there are none, and limits do not change.
     */
    @Bean
    @ConditionalOnMissingBean
    Limits rateLimits(RateLimitProperties properties, ObjectProvider<Policies> policies) {
        Limits configured = LimitBook.of(ConfiguredPolicy.limits(properties));
        Supplier<Supplier<Limits>> inForce = SingletonSupplier.of(() -> {
            Policies found = policies.getIfAvailable();
            return found == null ? () -> configured : () -> found.current().limits();
        });
        return new LiveLimits(() -> inForce.get().get());
    }

    @Bean
    DatabaseChoice rateLimitDatabaseChoice(
            RateLimitProperties properties,
            @RateLimitDataSource ObjectProvider<DataSource> marked,
            ObjectProvider<DataSource> dataSources,
            Environment environment) {
        return new DatabaseChoice(
                properties,
                () -> ApplicationDataSource.find(marked, dataSources),
                () -> DefaultFile.path(properties.store(), environment));
    }

    /** After the application's own migrations, which would refuse a schema that is not empty. */
    @Bean
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    LimitStore rateLimitStore(
            DatabaseChoice choice,
            RateLimitProperties properties,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        StateDatabase database = choice.state();
        RateLimitProperties.Store settings = properties.store();
        InstantSource clock = clocks.getIfAvailable();
        if (database instanceof PostgresDatabase postgres) {
            return open(
                    postgres.toString(), () -> PostgresStores.open(postgres, settings.deadline(), clock), 2, settings);
        }
        if (database instanceof StateDatabase.Sqlite sqlite) {
            return open(sqlite.toString(), () -> open(sqlite, settings.deadline(), clock), 1, settings);
        }
        if (properties.enabled()) {
            log.info("Keeping rate limits in memory; a restart loses them, and instances do not share them");
        } else {
            log.warn("Rate limiting is off (ratelimit.enabled=false): every request passes");
        }
        return clock == null ? new MemoryLimitStore() : new MemoryLimitStore(clock);
    }

    private static LimitStore open(
            String where, Supplier<LimitStore> opening, int groupsAtOnce, RateLimitProperties.Store settings) {
        if (!settings.required()) {
            return AwaitedLimitStore.open(where, opening, groupsAtOnce, AwaitedLimitStore.LONGEST_AT_START);
        }
        LimitStore opened = opening.get();
        log.info("Keeping rate limits in {}", where);
        return opened;
    }

    private static LimitStore open(StateDatabase.Sqlite sqlite, Duration deadline, @Nullable InstantSource clock) {
        sqlite.migrate();
        SqliteFile file = sqlite.file().busyTimeout(deadline);
        return clock == null ? new SqliteLimitStore(file) : new SqliteLimitStore(file, clock);
    }

    @Bean
    @ConditionalOnMissingBean(RateLimiter.class)
    StoreRateLimiter rateLimiter(
            LimitStore store,
            Limits limits,
            RateLimitProperties properties,
            ObjectProvider<DecisionListener> listeners) {
        Integer groups = properties.grouping().groupsInFlight();
        // A store that is a mock in a test of the application says zero.
        int groupsInFlight = groups != null ? groups : Math.max(1, store.groupsAtOnce());
        Grouping grouping = InvalidPropertyException.under(
                "ratelimit.grouping.",
                () -> new Grouping(
                        groupsInFlight,
                        properties.grouping().maxGroupSize(),
                        properties.grouping().maxWaiting(),
                        Grouping.DEFAULT.deadline()));
        return StoreRateLimiter.builder(store, limits)
                .grouping(InvalidPropertyException.under(
                        "ratelimit.store.",
                        () -> grouping.withDeadline(properties.store().deadline())))
                .listeners(listeners.orderedStream().toList())
                .rememberedDenials(
                        properties.deniedCache().enabled()
                                ? properties.deniedCache().maxSize()
                                : 0)
                .instances(instances(properties))
                .build();
    }

    /** Also where beans are made only when they are needed: the first request would be too late. */
    @Bean
    @ConditionalOnMissingBean
    @Lazy(false)
    WarmUp rateLimitWarmUp(LimitStore store, Limits limits) {
        return new WarmUp(store, limits, WarmUp.LONGEST);
    }

    @Bean
    @ConditionalOnMissingBean
    @Lazy(false)
    ProbableMistakes rateLimitProbableMistakes(
            ApplicationContext context, ObjectProvider<ProbableMistakes.Finder> finders) {
        return new ProbableMistakes(context, finders);
    }

    @Bean
    @ConditionalOnMissingBean
    @Lazy(false)
    LoginCheck rateLimitLoginCheck(RateLimitProperties properties, Limits limits, BeanFactory beans) {
        return new LoginCheck(properties.login(), limits, beans);
    }

    private static int instances(RateLimitProperties properties) {
        if (properties.instances() < 1 || properties.instances() > MOST_INSTANCES) {
            throw new InvalidPropertyException(
                    "ratelimit.instances", properties.instances(), "write a whole number from 1 to " + MOST_INSTANCES);
        }
        return properties.instances();
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
