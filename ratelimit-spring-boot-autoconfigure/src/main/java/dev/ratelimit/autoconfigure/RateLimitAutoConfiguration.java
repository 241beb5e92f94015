package dev.ratelimit.autoconfigure;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.actuate.NoReports;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.autoconfigure.property.ConfiguredPolicy;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.connection.ApplicationDataSource;
import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.database.AuditConnections;
import dev.ratelimit.database.CountsDatabase;
import dev.ratelimit.database.DatabaseChoice;
import dev.ratelimit.database.StateDatabase;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreListener;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.policy.LiveLimits;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.InvalidPropertyException;
import dev.ratelimit.startup.LoginCheck;
import dev.ratelimit.startup.ProbableMistakes;
import dev.ratelimit.startup.WarmUp;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.sqlite.Backups;
import dev.ratelimit.store.sqlite.SqliteFile;
import dev.ratelimit.upkeep.Upkeep;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.util.function.SingletonSupplier;

/** The limiter with its limits, store and upkeep. */
@AutoConfiguration(afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
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
        return new LiveLimits(SingletonSupplier.of(() -> {
            Policies found = policies.getIfAvailable();
            return found == null ? configured : LiveLimits.of(found);
        }));
    }

    @Bean
    DatabaseChoice rateLimitDatabaseChoice(
            RateLimitProperties properties,
            @RateLimitDataSource ObjectProvider<DataSource> marked,
            ObjectProvider<DataSource> dataSources,
            ObjectProvider<CountsDatabase> contributed,
            Environment environment) {
        return new DatabaseChoice(
                properties.enabled(),
                properties.store(),
                properties.policy().store(),
                () -> ApplicationDataSource.find(marked, dataSources),
                contributed::getIfAvailable,
                environment);
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
        Duration deadline = properties.store().deadline();
        InstantSource clock = clocks.getIfAvailable();
        StateDatabase previous = choice.previous();
        if (previous != null) {
            log.info(
                    "Counting in {}, too, while rate limits move from it to {}; once every instance has done so for {}, remove"
                            + " ratelimit.store.previous",
                    previous,
                    database,
                    Durations.text(CountLifetime.longest(LimitBook.of(ConfiguredPolicy.limits(properties)))));
        }
        if (database instanceof StateDatabase.Memory) {
            if (properties.enabled()) {
                log.info("Keeping rate limits in memory; a restart loses them, and instances do not share them");
            } else {
                log.warn("Rate limiting is off (ratelimit.enabled=false): every request passes");
            }
            return choice.open(deadline, clock);
        }
        if (!properties.store().required()) {
            return AwaitedLimitStore.open(
                    database.toString(),
                    () -> choice.open(deadline, clock),
                    database.groupsAtOnce(),
                    AwaitedLimitStore.LONGEST_AT_START);
        }
        LimitStore opened = choice.open(deadline, clock);
        log.info("Keeping rate limits in {}", database);
        return opened;
    }

    @Bean
    @ConditionalOnMissingBean(RateLimiter.class)
    StoreRateLimiter rateLimiter(
            LimitStore store,
            Limits limits,
            RateLimitProperties properties,
            ObjectProvider<DecisionListener> listeners,
            ObjectProvider<StoreListener> storeListeners) {
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
                .storeListeners(storeListeners.orderedStream().toList())
                .rememberedDenials(
                        properties.deniedCache().enabled()
                                ? properties.deniedCache().maxSize()
                                : 0)
                .onFailure(properties.onFailure())
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

    /** Elsewhere nobody logs in by a request: the same settings may also start a task, or a test without a web server. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class LoginConfiguration {

        @Bean
        @ConditionalOnMissingBean
        @Lazy(false)
        LoginCheck rateLimitLoginCheck(RateLimitProperties properties, Limits limits, BeanFactory beans) {
            return new LoginCheck(
                    properties.login().limit(),
                    properties.login().addressLimit(),
                    properties.login().nameLimit(),
                    limits,
                    beans);
        }
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

    /** Always there, so that an application that uses them starts also where nothing is written. */
    @Bean
    @ConditionalOnMissingBean
    Reports rateLimitReports(ObjectProvider<RequestAudit> audits, RateLimitProperties properties) {
        RequestAudit audit = audits.getIfAvailable();
        if (audit != null) {
            return audit.reports();
        }
        return new NoReports(
                properties.enabled()
                        ? Operations.NO_REPORTS
                        : "there are no reports while rate limiting is off; set ratelimit.enabled to true");
    }

    /** Copies the SQLite files; there are none if everything is kept elsewhere. */
    @Bean
    @ConditionalOnMissingBean
    Backups rateLimitBackups(
            DatabaseChoice choice,
            RateLimitProperties properties,
            BeanFactory beans,
            ObjectProvider<AuditConnections> audit,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        StateDatabase counts = beans.containsBean(OnDatabase.OUR_STORE) ? choice.state() : null;
        String directory = properties.backup().directory();
        List<SqliteFile> files = new ArrayList<>(choice.files(counts));
        audit.ifAvailable(connections -> {
            if (connections.file() != null) {
                files.add(connections.file());
            }
        });
        return new Backups(
                directory == null ? null : Path.of(directory), files, clocks.getIfAvailable(InstantSource::system));
    }

    /** Binds the properties, whose package javadoc leaves out: JDK 17 fails if an annotation of a public class names one of them. */
    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(RateLimitProperties.class)
    static class PropertiesConfiguration {}
}
