package dev.ratelimit.dashboard;

// region security
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

@Configuration(proxyBeanMethods = false)
class DashboardSecurity {

    @Bean
    @Order(1)
    SecurityFilterChain dashboard(HttpSecurity http) {
        return http.securityMatcher("/ratelimit", "/ratelimit/**")
                .authorizeHttpRequests(
                        requests -> requests.anyRequest().hasAnyAuthority("RATELIMIT_VIEW", "RATELIMIT_STEER"))
                .httpBasic(Customizer.withDefaults())
                .build();
    }
}
// endregion
