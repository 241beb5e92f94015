package dev.ratelimit.test.guide;

import dev.ratelimit.annotation.RateLimited;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.PropertySource;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The application of the examples in docs/how-to/testing.md. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(GuideApplication.PostController.class)
@PropertySource("classpath:guide.properties")
class GuideApplication {

    @Bean
    SecurityFilterChain everybodyMayEnter(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                .csrf(csrf -> csrf.disable())
                .build();
    }

    @RestController
    static class PostController {

        @PostMapping("/login")
        @RateLimited("login")
        String login() {
            return "welcome";
        }

        @GetMapping("/api/posts")
        String posts() {
            return "[]";
        }
    }
}
