package dev.ratelimit.autoconfigure;

import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.connection.PoolStatus;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.event.publisher.EventPublisher;
import dev.ratelimit.metrics.AuditMeters;
import dev.ratelimit.metrics.LimiterMeters;
import dev.ratelimit.store.LimitStore;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Reports the state of the limiter to Micrometer: store, queue, caches, connections and audit trail. */
@AutoConfiguration(
        after = {
            RateLimitAuditAutoConfiguration.class,
            RateLimitAutoConfiguration.class,
            RateLimitMetricsAutoConfiguration.class
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({MeterRegistry.class, StoreRateLimiter.class})
public final class RateLimitLimiterMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LimiterMeters rateLimitLimiterMeters(
            StoreRateLimiter limiter, LimitStore store, ObjectProvider<EventPublisher> events) {
        return new LimiterMeters(
                limiter::status,
                store instanceof AwaitedLimitStore || PoolStatus.of(store) != null,
                () -> PoolStatus.of(store),
                () -> {
                    EventPublisher publisher = events.getIfAvailable();
                    return publisher == null ? 0 : publisher.dropped();
                });
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(RequestAudit.class)
    @Nullable
    AuditMeters rateLimitAuditMeters(ObjectProvider<RequestAudit> audits, ObjectProvider<Retention> retentions) {
        RequestAudit audit = audits.getIfAvailable();
        return audit == null
                ? null
                : new AuditMeters(audit, () -> {
                    Retention retention = retentions.getIfAvailable();
                    return retention == null ? 0 : retention.failures().size();
                });
    }
}
