package dev.ratelimit.dashboard;

import dev.ratelimit.operate.Operations;
import dev.ratelimit.web.servlet.filter.ServletGate;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

/** The dashboard. It refuses to start if nothing protects it. */
@AutoConfiguration(
        afterName = {
            "dev.ratelimit.autoconfigure.RateLimitOperationsAutoConfiguration",
            "dev.ratelimit.autoconfigure.RateLimitWebAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ImportRuntimeHints(DashboardRuntimeHints.class)
public final class RateLimitDashboardAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger(RateLimitDashboardAutoConfiguration.class);

    private static final String SECURITY_CLASS = "org.springframework.security.web.SecurityFilterChain";
    private static final String SECURITY_BEAN = "springSecurityFilterChain";

    /** Before the filter of rules that need no user, and before authentication. */
    private static final int DOOR_ORDER = -115;

    @Bean
    DashboardProperties rateLimitDashboardProperties(Environment environment) {
        return DashboardProperties.of(environment);
    }

    @Bean
    DashboardPaths rateLimitDashboardPaths(DashboardProperties properties, Environment environment) {
        return DashboardPaths.of(properties, environment);
    }

    @Bean
    @ConditionalOnMissingBean
    Access rateLimitDashboardAccess(DashboardProperties properties, ApplicationContext context) {
        if (properties.unprotected()) {
            log.warn(
                    "Serving the dashboard of rate limits at {} to everybody, since ratelimit.dashboard.unprotected is true",
                    properties.path());
            return Access.unprotected();
        }
        if (!ClassUtils.isPresent(SECURITY_CLASS, context.getClassLoader())) {
            throw new UnprotectedDashboardException(properties.path(), "Spring Security is not on the class path");
        }
        if (!context.containsBean(SECURITY_BEAN)) {
            throw new UnprotectedDashboardException(
                    properties.path(), "Spring Security is switched off, since no bean is named " + SECURITY_BEAN);
        }
        return new SecurityAccess(properties);
    }

    /** Not if rate limiting is switched off as a whole: then there is nothing to show. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean({Operations.class, ServletGate.class})
    static class Served {

        @Bean
        RouterFunction<ServerResponse> rateLimitDashboardRoutes(
                DashboardPaths paths, Access access, Operations operations, Environment environment) {
            String application = environment.getProperty("spring.application.name", "application");
            return new Routes(paths, access, operations, application + " · " + hostName()).all();
        }

        private static String hostName() {
            try {
                return InetAddress.getLocalHost().getHostName();
            } catch (UnknownHostException e) {
                return "unknown host";
            }
        }

        @Bean
        FilterRegistrationBean<Door> rateLimitDashboardDoor(DashboardPaths paths, ServletGate gate) {
            FilterRegistrationBean<Door> registration = new FilterRegistrationBean<>(new Door(paths, gate));
            registration.setOrder(DOOR_ORDER);
            registration.setName("rateLimitDashboardDoor");
            return registration;
        }
    }
}
