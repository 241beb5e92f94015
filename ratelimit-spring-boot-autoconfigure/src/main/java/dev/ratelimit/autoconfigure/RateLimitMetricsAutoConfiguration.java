package dev.ratelimit.autoconfigure;

import dev.ratelimit.metrics.MicrometerDecisionListener;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Reports decisions to Micrometer where there is a registry. */
@AutoConfiguration(
        before = RateLimitAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public final class RateLimitMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    MicrometerDecisionListener rateLimitMicrometerListener(MeterRegistry registry) {
        return new MicrometerDecisionListener(registry);
    }
}
