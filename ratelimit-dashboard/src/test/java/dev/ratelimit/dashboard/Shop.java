package dev.ratelimit.dashboard;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** An application with the dashboard: each user's password is the name. */
@SpringBootConfiguration
@EnableAutoConfiguration
class Shop {

    /** Starts it on a free port, with a file of its own unless the settings say otherwise. */
    static ConfigurableApplicationContext start(Map<String, String> settings, Class<?>... more) {
        String[] arguments = settings.entrySet().stream()
                .map(setting -> "--" + setting.getKey() + "=" + setting.getValue())
                .toArray(String[]::new);
        return new SpringApplicationBuilder(Shop.class)
                .sources(more)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "ratelimit.store.type=sqlite",
                        "ratelimit.store.sqlite.path=" + temporaryFile(),
                        "ratelimit.store.deadline=10s")
                .run(arguments);
    }

    private static String temporaryFile() {
        try {
            Path folder = Files.createTempDirectory("shop");
            folder.toFile().deleteOnExit();
            return folder.resolve("limits.db").toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Bean
    @ConditionalOnProperty(name = "shop.security", matchIfMissing = true)
    SecurityFilterChain security(HttpSecurity http, Environment environment) {
        if (!environment.getProperty("shop.csrf", Boolean.class, false)) {
            http.csrf(AbstractHttpConfigurer::disable);
        }
        if (environment.getProperty("shop.open", Boolean.class, false)) {
            http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll());
        } else {
            http.authorizeHttpRequests(requests ->
                    requests.requestMatchers("/api/**").permitAll().anyRequest().authenticated());
        }
        if (environment.getProperty("shop.form", Boolean.class, false)) {
            http.formLogin(Customizer.withDefaults());
        }
        return http.httpBasic(Customizer.withDefaults()).build();
    }

    /** Any name is that of a customer. As a mere service: a manager would hash each password anew, which takes long. */
    @Bean
    UserDetailsService users() {
        Map<String, String> authorities = Map.of("viewer", "RATELIMIT_VIEW", "operator", "RATELIMIT_STEER");
        return name -> user(name, authorities.getOrDefault(name, "ROLE_USER"));
    }

    /** The clock of everything about limits. Tests move it. */
    @Bean
    MovableClock rateLimitClock() {
        return new MovableClock();
    }

    /** The real time, and some more or less. */
    static final class MovableClock implements InstantSource {

        private volatile Duration ahead = Duration.ZERO;

        void set(Duration fromNow) {
            ahead = fromNow;
        }

        @Override
        public Instant instant() {
            return Instant.now().plus(ahead);
        }
    }

    private static UserDetails user(String name, String authority) {
        return User.withUsername(name)
                .password("{noop}" + name)
                .authorities(authority)
                .build();
    }

    @RestController
    static class Orders {

        @GetMapping({"/api/orders/{id}", "/api/search/{id}"})
        String order(@PathVariable String id) {
            return id;
        }

        /** Under the path of the dashboard, but not of it. */
        @GetMapping("/ratelimit/orders")
        String beside() {
            return "orders";
        }
    }
}
