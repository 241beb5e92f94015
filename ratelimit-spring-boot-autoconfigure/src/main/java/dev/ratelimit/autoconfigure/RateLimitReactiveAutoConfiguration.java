package dev.ratelimit.autoconfigure;

import dev.ratelimit.setting.InvalidPropertyException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;

/** Stops a reactive application at startup: its requests would pass every limit unseen. */
@AutoConfiguration(before = RateLimitAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
public final class RateLimitReactiveAutoConfiguration {

    RateLimitReactiveAutoConfiguration() {
        throw new InvalidPropertyException(
                "spring.main.web-application-type",
                "reactive",
                "use Spring MVC (spring-boot-starter-webmvc) instead of WebFlux, whose requests are not limited yet; or"
                        + " write ratelimit.enabled: false to run without limits");
    }
}
