package dev.ratelimit.autoconfigure;

import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.autoconfigure.property.RateLimitProperties;
import dev.ratelimit.login.LoginLimits;
import dev.ratelimit.login.check.GateLoginLimits;
import dev.ratelimit.login.check.LimitedManagers;
import dev.ratelimit.login.check.LoginConfigurer;
import dev.ratelimit.login.check.LoginNumbers;
import dev.ratelimit.startup.LoginCheck;
import dev.ratelimit.web.servlet.filter.ServletGate;
import java.time.InstantSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** Limits failed logins with Spring Security. */
@AutoConfiguration(after = RateLimitWebAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({AuthenticationManager.class, HttpSecurity.class, SecurityFilterChain.class})
@ConditionalOnProperty("ratelimit.login.limit")
public final class RateLimitLoginAutoConfiguration {

    @Bean(LoginCheck.LIMITS)
    @ConditionalOnMissingBean(name = LoginCheck.LIMITS)
    GateLoginLimits rateLimitLoginLimits(
            RateLimiter limiter,
            Limits limits,
            ServletGate gate,
            RateLimitProperties properties,
            @Qualifier(RateLimitClocks.BEAN) ObjectProvider<InstantSource> clocks) {
        RateLimitProperties.Login login = properties.login();
        LoginNumbers numbers =
                new LoginNumbers(limits, String.valueOf(login.limit()), login.addressLimit(), login.nameLimit());
        return new GateLoginLimits(limiter, numbers, properties.onFailure(), gate, clocks.getIfAvailable());
    }

    /** Made before other beans, so it asks for them with the first login. */
    @Bean
    @ConditionalOnMissingBean
    static LimitedManagers rateLimitLimitedManagers(ObjectProvider<LoginLimits> logins) {
        return new LimitedManagers(logins::getObject);
    }

    @Bean
    @ConditionalOnMissingBean(name = "rateLimitLoginCustomizer")
    Customizer<HttpSecurity> rateLimitLoginCustomizer(
            ObjectProvider<LoginLimits> logins, ObjectProvider<ServletGate> gate) {
        return LoginConfigurer.everywhere(logins::getObject, gate::getObject);
    }
}
