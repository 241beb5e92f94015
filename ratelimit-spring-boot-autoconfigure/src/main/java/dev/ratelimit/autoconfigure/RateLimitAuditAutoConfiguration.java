package dev.ratelimit.autoconfigure;

import dev.ratelimit.audit.CacheUse;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.retention.AuditArchive;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.database.AuditConnections;
import dev.ratelimit.database.DatabaseChoice;
import dev.ratelimit.database.StateDatabase;
import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;

/** The audit trail, totals and reports, where there is a database for them. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(NamedParameterJdbcTemplate.class)
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@Conditional(OnDatabase.class)
public final class RateLimitAuditAutoConfiguration {

    private static final Duration RETENTION_EVERY = Duration.ofHours(1);

    /**
     * @param migrated its schema is up to date
     */
    @Bean
    AuditConnections rateLimitAuditConnections(
            DatabaseChoice choice, LimitStore migrated, RateLimitProperties properties, BeanFactory beans) {
        StateDatabase counts = beans.containsBean(OnDatabase.OUR_STORE) ? choice.state() : null;
        StateDatabase beside =
                counts == null || counts instanceof StateDatabase.Memory ? choice.policies(null) : counts;
        return AuditConnections.beside(beside, properties.audit().sqlitePath());
    }

    @Bean
    @ConditionalOnMissingBean
    RequestAudit rateLimitAudit(
            AuditConnections connections,
            RateLimitProperties properties,
            Environment environment,
            LimiterCaches caches,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        return new RequestAudit(
                connections.database(),
                properties.audit().settings(environment),
                clocks.getIfAvailable(InstantSource::system),
                caches);
    }

    /** Also where nothing new is written: old rows must end. */
    @Bean
    @ConditionalOnMissingBean
    @Lazy(false)
    Retention rateLimitRetention(
            AuditConnections connections,
            RateLimitProperties properties,
            ObjectProvider<AuditArchive> archives,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        AuditProperties audit = properties.audit();
        AuditArchive archive = archives.getIfAvailable();
        if (archive == null && audit.archive().location() != null) {
            throw audit.archivesMissing();
        }
        return new Retention(
                        connections.retention(),
                        audit.retention(),
                        archive,
                        clocks.getIfAvailable(InstantSource::system))
                .every(RETENTION_EVERY);
    }

    @Bean
    LimiterCaches rateLimitCacheUse(ObjectProvider<StoreRateLimiter> limiters) {
        return new LimiterCaches(limiters);
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(RequestAudit.class)
    Reports rateLimitReports(RequestAudit audit) {
        return audit.reports();
    }

    /** The limiter needs its listeners before it exists itself. */
    static final class LimiterCaches implements CacheUse, SmartInitializingSingleton {

        private final ObjectProvider<StoreRateLimiter> limiters;
        private volatile @Nullable StoreRateLimiter limiter;

        LimiterCaches(ObjectProvider<StoreRateLimiter> limiters) {
            this.limiters = limiters;
        }

        @Override
        public void afterSingletonsInstantiated() {
            limiter = limiters.getIfAvailable();
        }

        @Override
        public long hits() {
            EngineStatus status = status();
            return status == null
                    ? 0
                    : status.denials().hits() + status.leases().hits();
        }

        @Override
        public long misses() {
            EngineStatus status = status();
            return status == null
                    ? 0
                    : status.denials().misses() + status.leases().misses();
        }

        private @Nullable EngineStatus status() {
            StoreRateLimiter found = limiter;
            return found == null ? null : found.status();
        }
    }
}
