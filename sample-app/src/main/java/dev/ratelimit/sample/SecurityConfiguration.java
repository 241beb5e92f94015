package dev.ratelimit.sample;

import static org.springframework.security.config.http.SessionCreationPolicy.STATELESS;

import jakarta.servlet.DispatcherType;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.ProviderManager;
import org.springframework.security.authentication.dao.DaoAuthenticationProvider;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Anyone may read, join and try to log in. Writing requires a login with each request. */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

    private static final String OWN_RESOURCES_ONLY = "default-src 'none'; script-src 'self'; style-src 'self';"
            + " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private static final String[] OPEN = {
        "/",
        "/index.html",
        "/page.css",
        "/page.js",
        "/icon.svg",
        "/api/**",
        "/actuator/health/**",
        "/actuator/prometheus"
    };

    /** There is no session and no cookie, so that there is nothing a forged request could use. */
    @Bean
    SecurityFilterChain security(HttpSecurity http) {
        return http.csrf(AbstractHttpConfigurer::disable)
                .sessionManagement(sessions -> sessions.sessionCreationPolicy(STATELESS))
                .headers(
                        headers -> headers.contentSecurityPolicy(policy -> policy.policyDirectives(OWN_RESOURCES_ONLY)))
                .authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(DispatcherType.ERROR)
                        .permitAll()
                        .requestMatchers(HttpMethod.GET, OPEN)
                        .permitAll()
                        .requestMatchers(HttpMethod.HEAD, OPEN)
                        .permitAll()
                        .requestMatchers(HttpMethod.POST, "/login", "/api/campaigns/{id}/join")
                        .permitAll()
                        .anyRequest()
                        .authenticated())
                .httpBasic(Customizer.withDefaults())
                .build();
    }

    /** As a mere service: a manager would hash the passwords anew, which then costs every request a tenth of a second. */
    @Bean
    UserDetailsService users() {
        InMemoryUserDetailsManager users = new InMemoryUserDetailsManager(
                user("alice", "USER"),
                user("bob", "USER"),
                user("admin", "ADMIN"),
                user("viewer", "VIEWER"),
                user("operator", "OPERATOR"));
        return name -> users.loadUserByUsername(name);
    }

    @Bean
    AuthenticationManager authentication(UserDetailsService users) {
        return new ProviderManager(new DaoAuthenticationProvider(users));
    }

    /** The password is the name, and no secret: this is a sample. */
    private static UserDetails user(String name, String role) {
        return User.withUsername(name).password("{noop}" + name).roles(role).build();
    }
}
