package dev.ratelimit.autoconfigure;

import dev.ratelimit.RateLimiter;
import dev.ratelimit.actuate.ThisInstance;
import dev.ratelimit.admin.ConfiguredStorage;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.database.DatabaseChoice;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.gate.Gate;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.operate.Operations;
import dev.ratelimit.policy.PolicyConfiguration;
import dev.ratelimit.store.sqlite.Backups;
import dev.ratelimit.upkeep.Upkeep;
import java.time.InstantSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

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
            ObjectProvider<InstanceStatus.Reader> status,
            PolicyConfiguration configuration,
            RateLimiter limiter,
            ObjectProvider<Gate> gates,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        InstantSource clock = clocks.getIfAvailable(InstantSource::system);
        Backups files = backups.getIfAvailable();
        return new Operations(
                admins.getIfAvailable(() -> withoutStorage(configuration, limiter, gates, clock)),
                reports.getIfAvailable(),
                files == null || files.files().isEmpty() ? null : files,
                status.getObject(),
                clock);
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
            ObjectProvider<DatabaseChoice> choices,
            BeanFactory beans) {
        // A store of the application may come without a database that could be described.
        DatabaseChoice choice = beans.containsBean("rateLimitStore") ? choices.getIfAvailable() : null;
        return new ThisInstance(
                choice == null ? "a store of the application" : choice.state().toString(),
                limiters.getIfAvailable(),
                upkeeps.getIfAvailable(),
                warnings::getIfAvailable);
    }
}
