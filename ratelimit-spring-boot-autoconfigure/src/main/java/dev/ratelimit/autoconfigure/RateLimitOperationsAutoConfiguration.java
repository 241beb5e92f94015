package dev.ratelimit.autoconfigure;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.actuate.ThisInstance;
import dev.ratelimit.admin.ConfiguredStorage;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.connection.PoolStatus;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.sqlite.Backups;
import dev.ratelimit.upkeep.Upkeep;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** All that operators see and do, for the endpoint and other tools. */
@AutoConfiguration(after = {RateLimitPolicyAutoConfiguration.class, RateLimitWebAutoConfiguration.class})
@ConditionalOnBean({PolicyConfiguration.class, RateLimiter.class})
public final class RateLimitOperationsAutoConfiguration {

    static final String NOT_STORED =
            "limits and rules are not kept in a database; set ratelimit.policy.store to sqlite or postgresql";

    @Bean
    @ConditionalOnMissingBean
    Operations rateLimitOperations(
            ObjectProvider<RateLimitAdmin> admins,
            ObjectProvider<Reports> reports,
            ObjectProvider<Backups> backups,
            ObjectProvider<Retention> retention,
            ObjectProvider<InstanceStatus.Reader> status,
            Environment environment,
            PolicyConfiguration configuration,
            RateLimiter limiter,
            ObjectProvider<Gate> gates,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        InstantSource clock = clocks.getIfAvailable(InstantSource::system);
        Backups files = backups.getIfAvailable();
        return new Operations(
                admins.getIfAvailable(() -> withoutStorage(configuration, limiter, gates, clock)),
                new Operations.Services(
                        reports.getIfAvailable(),
                        files == null || files.files().isEmpty() ? null : files,
                        retention.getIfAvailable(),
                        status.getObject(),
                        contextPath(environment)),
                clock);
    }

    /** Without a slash at its end, as servers do it. */
    private static String contextPath(Environment environment) {
        String path = environment.getProperty("server.servlet.context-path", "");
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    /** Where nothing is stored, limits and requests can still be looked at. */
    private static RateLimitAdmin withoutStorage(
            PolicyConfiguration configuration, RateLimiter limiter, ObjectProvider<Gate> gates, InstantSource clock) {
        ConfiguredStorage storage = new ConfiguredStorage(configuration, clock, NOT_STORED);
        Gate gate = gates.getIfAvailable();
        return gate == null ? new RateLimitAdmin(storage, limiter) : new RateLimitAdmin(storage, limiter, gate);
    }

    @Bean
    @ConditionalOnMissingBean
    InstanceStatus.Reader rateLimitInstanceStatus(
            ObjectProvider<StoreRateLimiter> limiters,
            ObjectProvider<Upkeep> upkeeps,
            ObjectProvider<Warnings> warnings,
            ObjectProvider<LimitStore> stores,
            BeanFactory beans) {
        return new ThisInstance(
                StoreName.of(beans),
                limiters.getIfAvailable(),
                () -> pool(stores.getIfAvailable()),
                upkeeps.getIfAvailable(),
                warnings::getIfAvailable);
    }

    private static InstanceStatus.@Nullable Pool pool(@Nullable LimitStore store) {
        PoolStatus pool = PoolStatus.of(store);
        return pool == null
                ? null
                : new InstanceStatus.Pool(pool.active(), pool.idle(), pool.waiting(), pool.capacity());
    }
}
