package dev.ratelimit.sample;

// region operators
import static org.springframework.security.config.http.SessionCreationPolicy.STATELESS;

import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.web.SecurityFilterChain;

/** A viewer may look at rate limits, and an operator may change them. */
@Configuration(proxyBeanMethods = false)
class OperatorSecurity {

    /**
     * Needs no CSRF token, though a browser sends the password with a forged request, too. A change is JSON or a DELETE, and another
     * site may send neither: the browser asks first (CORS preflight), and gets no permission.
     */
    @Bean
    @Order(1)
    SecurityFilterChain operators(HttpSecurity http) {
        return http.securityMatcher(EndpointRequest.to("ratelimit"))
                .csrf(AbstractHttpConfigurer::disable)
                .sessionManagement(sessions -> sessions.sessionCreationPolicy(STATELESS))
                .authorizeHttpRequests(requests -> requests.requestMatchers(
                                EndpointRequest.to("ratelimit").withHttpMethod(HttpMethod.GET))
                        .hasAnyRole("VIEWER", "OPERATOR")
                        .anyRequest()
                        .hasRole("OPERATOR"))
                .httpBasic(Customizer.withDefaults())
                .build();
    }
}
// endregion
