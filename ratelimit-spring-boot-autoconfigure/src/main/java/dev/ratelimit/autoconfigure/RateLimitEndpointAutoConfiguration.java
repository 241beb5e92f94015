package dev.ratelimit.autoconfigure;

import dev.ratelimit.actuate.RateLimitEndpoint;
import dev.ratelimit.actuate.RateLimitEndpointWebExtension;
import dev.ratelimit.actuate.UnknownArguments;
import dev.ratelimit.operate.Operations;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The actuator endpoint {@code ratelimit}, where the application exposes it. */
@AutoConfiguration(after = RateLimitOperationsAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnAvailableEndpoint(RateLimitEndpoint.class)
@ConditionalOnBean(Operations.class)
public final class RateLimitEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    RateLimitEndpoint rateLimitEndpoint(Operations operations) {
        return new RateLimitEndpoint(operations);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitEndpointWebExtension rateLimitEndpointWebExtension(Operations operations) {
        return new RateLimitEndpointWebExtension(operations);
    }

    @Bean
    @ConditionalOnMissingBean
    UnknownArguments rateLimitEndpointUnknownArguments() {
        return new UnknownArguments();
    }
}
