package dev.ratelimit.autoconfigure;

import dev.ratelimit.admin.PolicyStorage;
import dev.ratelimit.audit.RequestAudit;
import dev.ratelimit.audit.retention.Retention;
import dev.ratelimit.autoconfigure.property.MonitoringProperties;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.event.publisher.EventPublisher;
import dev.ratelimit.monitor.Monitor;
import dev.ratelimit.monitor.Warnings;
import dev.ratelimit.policy.Policies;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/** Watches limits: log lines, warnings and application events. */
@AutoConfiguration(before = RateLimitAutoConfiguration.class)
@Import(RateLimitAutoConfiguration.PropertiesConfiguration.class)
public final class RateLimitMonitoringAutoConfiguration {

    /** Asks for the policies when it reads penalties: the limiter needs its listeners before. */
    @Bean
    @ConditionalOnMissingBean
    Monitor rateLimitMonitor(
            RateLimitProperties properties,
            ObjectProvider<Policies> policies,
            ObjectProvider<RequestAudit> audits,
            ObjectProvider<Retention> retentions) {
        MonitoringProperties settings = properties.monitoring();
        return Monitor.builder()
                .penalties(
                        () -> policies.getIfAvailable() instanceof PolicyStorage storage
                                ? storage.activePenalties()
                                : Map.of(),
                        settings.penaltiesInterval())
                .auditDropped(() -> {
                    RequestAudit audit = audits.getIfAvailable();
                    return audit == null ? 0 : audit.dropped() + audit.merged();
                })
                .totalsDropped(() -> {
                    RequestAudit audit = audits.getIfAvailable();
                    return audit == null ? 0 : audit.droppedMinutes();
                })
                .auditFailure(() -> {
                    RequestAudit audit = audits.getIfAvailable();
                    return audit == null ? null : audit.failure();
                })
                .sumsFailure(() -> {
                    RequestAudit audit = audits.getIfAvailable();
                    return audit == null ? null : audit.sumsFailure();
                })
                .retentionFailures(() -> {
                    Retention retention = retentions.getIfAvailable();
                    return retention == null ? List.of() : retention.failures();
                })
                .logsDenials(settings.logDenials())
                .build();
    }

    @Bean
    @ConditionalOnMissingBean
    Warnings rateLimitWarnings(
            Monitor monitor, ObjectProvider<StoreRateLimiter> limiters, RateLimitProperties properties) {
        return new Warnings(
                monitor,
                () -> {
                    StoreRateLimiter limiter = limiters.getIfAvailable();
                    return limiter == null ? null : limiter.status();
                },
                properties.monitoring().warnings().thresholds());
    }

    @Bean
    @ConditionalOnMissingBean
    EventPublisher rateLimitEventPublisher(ApplicationEventPublisher application) {
        return new EventPublisher(application::publishEvent);
    }

    /** When all beans are there: the threads of both use some of them. */
    @Bean
    @ConditionalOnMissingBean(name = "rateLimitMonitoringStart")
    @Lazy(false)
    SmartInitializingSingleton rateLimitMonitoringStart(Monitor monitor, EventPublisher events) {
        return () -> {
            monitor.start();
            events.start();
        };
    }
}
