package dev.ratelimit.autoconfigure;

import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.health.RateLimitHealthIndicator;
import dev.ratelimit.upkeep.Upkeep;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Shows the health of the limiter, unless {@code management.health.ratelimit.enabled} is false. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("ratelimit")
public final class RateLimitHealthAutoConfiguration {

    /** Spring Boot names the indicator after the bean: ratelimit. */
    @Bean
    @ConditionalOnMissingBean(name = "ratelimitHealthIndicator")
    @ConditionalOnBean(StoreRateLimiter.class)
    HealthIndicator ratelimitHealthIndicator(
            StoreRateLimiter limiter, ObjectProvider<Upkeep> upkeep, BeanFactory beans) {
        return new RateLimitHealthIndicator(StoreName.of(beans), limiter::probe, upkeep::getIfAvailable);
    }
}
