package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.annotation.RateLimited;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.filter.OncePerRequestFilter;

/** An application with nothing but the starter, a few lines of YAML and annotations. */
class StarterTest {

    @TempDir
    Path folder;

    private RunningApplication application;

    @SpringBootApplication
    static class Application {

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.csrf(csrf -> csrf.disable())
                    .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        Service service() {
            return new Service();
        }

        @Bean
        Limited limited() {
            return new Limited();
        }

        @Bean
        CallingFilter callingFilter(Limited limited) {
            return new CallingFilter(limited);
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("alice")
                            .password("{noop}alice")
                            .roles("USER")
                            .build(),
                    User.withUsername("admin")
                            .password("{noop}admin")
                            .roles("ADMIN")
                            .build());
        }
    }

    record Login(String email, String password) {}

    static class Service {

        @RateLimited("plenty")
        public void call() {}
    }

    /** Calls a limited bean outside of Spring MVC. */
    static class CallingFilter extends OncePerRequestFilter {

        private final Limited limited;

        CallingFilter(Limited limited) {
            this.limited = limited;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            if (request.getRequestURI().equals("/filtered")) {
                limited.call();
            }
            chain.doFilter(request, response);
        }
    }

    static class Limited {

        @RateLimited("login")
        public void call() {}
    }

    @RestController
    static class Endpoints {

        private final Service service;

        Endpoints(Service service) {
            this.service = service;
        }

        @GetMapping("/filtered")
        String filtered() {
            return "filtered";
        }

        @GetMapping("/api/things")
        String things() {
            return "things";
        }

        @GetMapping("/annotated")
        @RateLimited("login")
        String annotated() {
            return "fine";
        }

        @PostMapping("/login-by-exception")
        @RateLimited(limit = "login", key = "#form.email", countWhen = "#status == 401")
        String loginByException(@RequestBody Login form) {
            throw new BadCredentialsException("no");
        }

        @GetMapping("/often")
        String often() {
            for (int i = 0; i < 300; i++) {
                service.call();
            }
            return "done";
        }

        @PostMapping("/login")
        @RateLimited(limit = "login", key = "#form.email", countWhen = "#status == 401")
        ResponseEntity<String> login(@RequestBody Login form) {
            return form.password.equals("right")
                    ? ResponseEntity.ok("welcome")
                    : ResponseEntity.status(HttpStatus.UNAUTHORIZED).body("no");
        }
    }

    @BeforeEach
    void start() {
        application = RunningApplication.start(
                List.of(Application.class, Endpoints.class),
                "ratelimit.store.sqlite.path=" + folder.resolve("ratelimit.db"),
                "ratelimit.limits.api.algorithm=token-bucket",
                "ratelimit.limits.api.burst=3",
                "ratelimit.limits.api.refill=1/h",
                "ratelimit.limits.login.algorithm=fixed-window",
                "ratelimit.limits.login.max-requests=2",
                "ratelimit.limits.login.window=day",
                "ratelimit.limits.plenty.algorithm=fixed-window",
                "ratelimit.limits.plenty.max-requests=1000000",
                "ratelimit.limits.plenty.window=day",
                "ratelimit.rules[0].name=api",
                "ratelimit.rules[0].path=/api/**",
                "ratelimit.rules[0].key=user",
                "ratelimit.rules[0].limits=api",
                "ratelimit.exempt.authorities=ROLE_ADMIN");
    }

    @AfterEach
    void stop() {
        application.close();
    }

    @Test
    void usersAreLimitedByRule() throws Exception {
        HttpResponse<String> first = get("/api/things", "alice");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.headers().firstValue("X-RateLimit-Limit")).hasValue("3");
        assertThat(first.headers().firstValue("X-RateLimit-Remaining")).hasValue("2");
        assertThat(first.headers().firstValue("RateLimit-Policy")).hasValue("\"api\";q=3;w=10800");
        get("/api/things", "alice");
        get("/api/things", "alice");

        HttpResponse<String> denied = get("/api/things", "alice");

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(denied.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(denied.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(denied.headers().firstValue("Retry-After")).isPresent();
        assertThat(denied.body())
                .contains("\"violated-policies\":[\"api\"]", "Tokens refill at 1 per hour. Try again in");
        assertThat(get("/api/things", null).statusCode()).isEqualTo(200);
        for (int i = 0; i < 6; i++) {
            assertThat(get("/api/things", "admin").statusCode()).isEqualTo(200);
        }
        assertThat(Files.exists(folder.resolve("ratelimit.db"))).isTrue();
    }

    @Test
    void annotatedMethodIsAnsweredWithTheSame429() throws Exception {
        assertThat(get("/annotated", null).statusCode()).isEqualTo(200);
        assertThat(get("/annotated", null).headers().firstValue("X-RateLimit-Remaining"))
                .hasValue("0");

        HttpResponse<String> denied = get("/annotated", null);

        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(denied.body()).contains("At most 2 requests per day.");
    }

    @Test
    void onlyFailedLoginsCount() throws Exception {
        for (int i = 0; i < 5; i++) {
            assertThat(login("a@example.org", "right").statusCode()).isEqualTo(200);
        }
        assertThat(login("a@example.org", "wrong").statusCode()).isEqualTo(401);
        assertThat(login("a@example.org", "wrong").statusCode()).isEqualTo(401);
        assertThat(login("a@example.org", "wrong").statusCode()).isEqualTo(429);
        assertThat(login("a@example.org", "right").statusCode()).isEqualTo(429);
        assertThat(login("b@example.org", "right").statusCode()).isEqualTo(200);
    }

    @Test
    void failedLoginsCountThoughSpringSecurityWritesTheirStatus() throws Exception {
        String body = "{\"email\":\"c@example.org\",\"password\":\"wrong\"}";
        assertThat(application
                        .post("/login-by-exception", "application/json", body)
                        .statusCode())
                .isEqualTo(401);
        assertThat(application
                        .post("/login-by-exception", "application/json", body)
                        .statusCode())
                .isEqualTo(401);
        assertThat(application
                        .post("/login-by-exception", "application/json", body)
                        .statusCode())
                .isEqualTo(429);
    }

    @Test
    void limitedBeanThatAFilterCallsIsAnsweredWith429() throws Exception {
        assertThat(get("/filtered", null).statusCode()).isEqualTo(200);
        assertThat(get("/filtered", null).statusCode()).isEqualTo(200);
        HttpResponse<String> denied = get("/filtered", null);
        assertThat(denied.statusCode()).isEqualTo(429);
        assertThat(denied.headers().firstValue("Retry-After")).isPresent();
    }

    @Test
    void headersDoNotGrowWithTheNumberOfCalls() throws Exception {
        HttpResponse<String> response = get("/often", null);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("RateLimit-Policy")).hasValue("\"plenty\";q=1000000;w=86400");
    }

    private HttpResponse<String> get(String path, String user) throws Exception {
        return user == null ? application.get(path) : application.getAs(user, path);
    }

    private HttpResponse<String> login(String email, String password) throws Exception {
        return application.post(
                "/login", "application/json", "{\"email\":\"" + email + "\",\"password\":\"" + password + "\"}");
    }
}
