package dev.ratelimit.autoconfigure;

import dev.ratelimit.setting.InvalidPropertyException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Configuration;

/** Stops web applications at startup whose requests would pass every limit unseen. */
@AutoConfiguration(before = RateLimitAutoConfiguration.class)
@ConditionalOnProperty(name = "ratelimit.enabled", matchIfMissing = true)
public final class RateLimitUnsupportedAutoConfiguration {

    private static InvalidPropertyException unseen(String type, String advice) {
        return new InvalidPropertyException(
                "spring.main.web-application-type",
                type,
                advice + "; or write ratelimit.enabled: false to run without limits");
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class ReactiveConfiguration {

        ReactiveConfiguration() {
            throw unseen(
                    "reactive",
                    "use Spring MVC (spring-boot-starter-webmvc) instead of WebFlux, whose requests are not limited yet");
        }
    }

    /** The filters are built on Spring MVC, and see the requests of all other servlets, too. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnMissingClass("org.springframework.web.servlet.HandlerExceptionResolver")
    static class ServletWithoutMvcConfiguration {

        ServletWithoutMvcConfiguration() {
            throw unseen(
                    "servlet",
                    "add spring-boot-starter-webmvc beside Jersey or your own servlets: without Spring MVC no request is"
                            + " limited");
        }
    }
}
