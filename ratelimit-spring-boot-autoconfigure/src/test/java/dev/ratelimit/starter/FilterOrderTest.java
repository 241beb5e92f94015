package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The decisions before and after authentication. */
class FilterOrderTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        LimitStore store() {
            return new MemoryLimitStore();
        }

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.requestMatchers("/open/**")
                            .permitAll()
                            .anyRequest()
                            .authenticated())
                    .cors(Customizer.withDefaults())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(User.withUsername("alice")
                    .password("{noop}alice")
                    .roles("USER")
                    .build());
        }
    }

    @RestController
    static class Endpoints {

        @GetMapping({"/address/x", "/user/x"})
        String closed() {
            return "x";
        }

        @GetMapping({"/open/x", "/open/asked"})
        @CrossOrigin("https://page.example")
        String open() {
            return "x";
        }
    }

    private static RunningApplication start(String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "ratelimit.limits.two.algorithm=fixed-window",
                "ratelimit.limits.two.max-requests=2",
                "ratelimit.limits.two.window=3660d",
                "ratelimit.rules.address.path=/address/**",
                "ratelimit.rules.address.key=ip",
                "ratelimit.rules.address.limits=two",
                "ratelimit.rules.user.path=/user/**",
                "ratelimit.rules.user.key=user",
                "ratelimit.rules.user.limits=two",
                "ratelimit.rules.open.path=/open/x",
                "ratelimit.rules.open.key=ip",
                "ratelimit.rules.open.limits=two",
                "ratelimit.rules.asked.path=/open/asked",
                "ratelimit.rules.asked.methods=GET,OPTIONS",
                "ratelimit.rules.asked.key=ip",
                "ratelimit.rules.asked.limits=two"));
        all.addAll(List.of(settings));
        return RunningApplication.start(List.of(Application.class, Endpoints.class), all.toArray(String[]::new));
    }

    private static List<Integer> statuses(RunningApplication application, int times, String path, String user)
            throws Exception {
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            HttpResponse<String> response = user == null ? application.get(path) : application.getAs(user, path);
            statuses.add(response.statusCode());
        }
        return statuses;
    }

    @Test
    void addressesAreDeniedBeforeAPasswordIsAskedFor() throws Exception {
        try (RunningApplication application = start()) {
            assertThat(statuses(application, 3, "/address/x", null)).containsExactly(401, 401, 429);
            assertThat(statuses(application, 1, "/address/x", "alice")).containsExactly(429);
        }
    }

    @Test
    void usersAreDeniedOnceTheyAreKnown() throws Exception {
        try (RunningApplication application = start()) {
            assertThat(statuses(application, 4, "/user/x", null)).containsOnly(401);
            assertThat(statuses(application, 3, "/user/x", "alice")).containsExactly(200, 200, 429);
        }
    }

    @Test
    void filtersStandWhereTheyAreTold() throws Exception {
        try (RunningApplication application = start(
                "ratelimit.filter.order-before-authentication=-50",
                "ratelimit.filter.order-after-authentication=-120")) {
            assertThat(statuses(application, 4, "/address/x", null))
                    .as("behind Spring Security, which lets none of these through")
                    .containsOnly(401);
            assertThat(statuses(application, 3, "/user/x", "alice"))
                    .as("before Spring Security, where nobody is known yet: by address")
                    .containsExactly(200, 200, 429);
            assertThat(statuses(application, 1, "/user/x", null)).containsExactly(429);
        }
    }

    private static int preflight(RunningApplication application, String path) throws Exception {
        return application
                .send(
                        path,
                        request -> request.method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                                .headers("Origin", "https://page.example", "Access-Control-Request-Method", "GET"))
                .statusCode();
    }

    @Test
    void browsersOwnQuestionCountsOnlyForARuleThatNamesItsMethod() throws Exception {
        try (RunningApplication application = start()) {
            for (int i = 0; i < 4; i++) {
                assertThat(preflight(application, "/open/x")).isEqualTo(200);
            }
            assertThat(statuses(application, 3, "/open/x", null)).containsExactly(200, 200, 429);
        }
        try (RunningApplication application = start()) {
            assertThat(preflight(application, "/open/asked")).isEqualTo(200);
            assertThat(preflight(application, "/open/asked")).isEqualTo(200);
            assertThat(preflight(application, "/open/asked")).isEqualTo(429);
        }
    }

    @Test
    void otherOptionsRequestsCountAsAnyMethodDoes() throws Exception {
        try (RunningApplication application = start()) {
            assertThat(application.rawStatus("OPTIONS /open/x HTTP/1.1")).isEqualTo(200);
            assertThat(application.rawStatus("OPTIONS /open/x HTTP/1.1")).isEqualTo(200);
            assertThat(application.rawStatus("OPTIONS /open/x HTTP/1.1")).isEqualTo(429);
        }
    }
}
