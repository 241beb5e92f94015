package dev.ratelimit.test;

import dev.ratelimit.annotation.RateLimitExempt;
import dev.ratelimit.annotation.RateLimited;
import java.security.Principal;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.PropertySource;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application under test, with rules by user and by address, an annotation, tiers and API keys. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(Shop.Goods.class)
@PropertySource("classpath:shop.properties")
class Shop {

    @Bean
    SecurityFilterChain everybodyMayEnter(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                .httpBasic(Customizer.withDefaults())
                .csrf(csrf -> csrf.disable())
                .build();
    }

    @RestController
    static class Goods {

        @GetMapping("/goods")
        String list(Principal user) {
            return user == null ? "goods" : "goods of " + user.getName();
        }

        @PostMapping("/login")
        @RateLimited("login")
        String login() {
            return "welcome";
        }

        @GetMapping("/partners/{id}")
        String partner(@PathVariable String id) {
            return id;
        }

        @GetMapping("/strict")
        String strict() {
            return "strict";
        }

        @GetMapping("/health")
        @RateLimitExempt
        String health() {
            return "fine";
        }

        @GetMapping("/news/{id}")
        String news(@PathVariable String id) {
            return id;
        }
    }
}
