package dev.ratelimit.autoconfigure;

import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.metrics.MicrometerDecisionListener;
import dev.ratelimit.metrics.MonitorMeters;
import dev.ratelimit.monitor.Monitor;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Reports decisions, and active penalties, to Micrometer where there is a registry. */
@AutoConfiguration(
        before = RateLimitAutoConfiguration.class,
        after = RateLimitMonitoringAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public final class RateLimitMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    MicrometerDecisionListener rateLimitMicrometerListener(MeterRegistry registry, RateLimitProperties properties) {
        return new MicrometerDecisionListener(registry, properties.monitoring().nearLimitPercent());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(Monitor.class)
    MonitorMeters rateLimitMonitorMeters(Monitor monitor) {
        return new MonitorMeters(monitor);
    }
}
