package dev.ratelimit.autoconfigure;

import dev.ratelimit.audit.CacheUse;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.retention.AuditArchive;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.autoconfigure.property.AuditProperties;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.database.AuditConnections;
import dev.ratelimit.database.CountsDatabase;
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
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;

/** The audit trail and totals, where there is a database for them. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass(NamedParameterJdbcTemplate.class)
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
@Conditional(OnDatabase.class)
public final class RateLimitAuditAutoConfiguration {

    private static final Duration RETENTION_EVERY = Duration.ofHours(1);

    /**
     * None if there is no database for it: counts are in Redis, and limits and rules come from the configuration alone.
     *
     * @param migrated the schema of the counts is up to date
     */
    @Bean
    @Nullable
    AuditConnections rateLimitAuditConnections(
            DatabaseChoice choice, LimitStore migrated, RateLimitProperties properties, BeanFactory beans) {
        StateDatabase counts =
                beans.containsBean(OnDatabase.OUR_STORE) ? choice.state().main() : null;
        boolean hasTables =
                counts != null && !(counts instanceof StateDatabase.Memory) && !(counts instanceof CountsDatabase);
        StateDatabase beside = hasTables ? counts : choice.policies(counts);
        return beside == null
                ? null
                : AuditConnections.beside(
                        beside,
                        hasTables,
                        properties.store().required(),
                        properties.audit().sqlitePath());
    }

    @Bean
    @ConditionalOnMissingBean
    @Nullable
    RequestAudit rateLimitAudit(
            ObjectProvider<AuditConnections> connections,
            RateLimitProperties properties,
            Environment environment,
            LimiterCaches caches,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        AuditConnections database = connections.getIfAvailable();
        return database == null
                ? null
                : new RequestAudit(
                        database.database(),
                        properties
                                .audit()
                                .settings(environment, properties.identity().subjects()),
                        clocks.getIfAvailable(InstantSource::system),
                        caches);
    }

    /** Also where nothing new is written: old rows must end. */
    @Bean
    @ConditionalOnMissingBean
    @Lazy(false)
    @Nullable
    Retention rateLimitRetention(
            ObjectProvider<AuditConnections> connections,
            RateLimitProperties properties,
            ObjectProvider<AuditArchive> archives,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        AuditConnections database = connections.getIfAvailable();
        if (database == null) {
            return null;
        }
        AuditProperties audit = properties.audit();
        AuditArchive archive = archives.getIfAvailable();
        if (archive == null && audit.archive().location() != null) {
            throw audit.archivesMissing();
        }
        return new Retention(
                        database.retention(), audit.retention(), archive, clocks.getIfAvailable(InstantSource::system))
                .every(RETENTION_EVERY);
    }

    @Bean
    LimiterCaches rateLimitCacheUse(ObjectProvider<StoreRateLimiter> limiters) {
        return new LimiterCaches(limiters);
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
