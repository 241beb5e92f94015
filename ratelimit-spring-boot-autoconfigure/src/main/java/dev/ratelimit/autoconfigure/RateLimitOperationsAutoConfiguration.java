package dev.ratelimit.autoconfigure;

import dev.ratelimit.actuate.NoReports;
import dev.ratelimit.actuate.ThisInstance;
import dev.ratelimit.admin.RateLimitAdmin;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.connection.PoolStatus;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.operate.InstanceStatus;
import dev.ratelimit.operate.Operations;
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
@ConditionalOnBean(RateLimitAdmin.class)
public final class RateLimitOperationsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Operations rateLimitOperations(
            RateLimitAdmin admin,
            Reports reports,
            ObjectProvider<Backups> backups,
            ObjectProvider<Retention> retention,
            ObjectProvider<InstanceStatus.Reader> status,
            Environment environment,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        Backups files = backups.getIfAvailable();
        return new Operations(
                admin,
                new Operations.Services(
                        reports instanceof NoReports ? null : reports,
                        files == null || files.files().isEmpty() ? null : files,
                        retention.getIfAvailable(),
                        status.getObject(),
                        contextPath(environment)),
                clocks.getIfAvailable(InstantSource::system));
    }

    /** Without a slash at its end, as servers do it. */
    private static String contextPath(Environment environment) {
        String path = environment.getProperty("server.servlet.context-path", "");
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
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
