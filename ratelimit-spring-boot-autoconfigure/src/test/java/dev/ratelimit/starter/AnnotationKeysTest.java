package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.web.servlet.SubjectResolver;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** {@code @RateLimited} takes the keys that rules have. */
class AnnotationKeysTest {

    private static RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @WithoutSecurity
    static class Application {

        @Bean
        SubjectResolver tenants() {
            return request -> {
                String tenant = request.getParameter("tenant");
                return tenant == null ? null : Subject.of("tenant", tenant);
            };
        }

        @RestController
        static class Endpoints {

            @GetMapping("/by-header")
            @RateLimited(limit = "one", key = "header:X-Tenant")
            String byHeader() {
                return "ok";
            }

            @GetMapping("/by-address")
            @RateLimited(limit = "one", key = "ip")
            String byAddress() {
                return "ok";
            }

            @GetMapping("/by-user")
            @RateLimited(limit = "one-user", key = "user")
            String byUser() {
                return "ok";
            }

            @GetMapping("/by-bean")
            @RateLimited(limit = "one", key = "bean:tenants")
            String byBean() {
                return "ok";
            }
        }
    }

    @BeforeAll
    static void start() {
        application = RunningApplication.start(
                List.of(Application.class),
                "ratelimit.store.type=memory",
                "ratelimit.identity.trusted-proxies=127.0.0.1",
                "ratelimit.limits.one.algorithm=token-bucket",
                "ratelimit.limits.one.burst=1",
                "ratelimit.limits.one.refill=1/d",
                "ratelimit.limits.one-user.base=one");
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void headerIsTheSubject() throws Exception {
        assertThat(status("/by-header", "X-Tenant", "a")).isEqualTo(200);
        assertThat(status("/by-header", "X-Tenant", "b")).isEqualTo(200);
        assertThat(status("/by-header", "X-Tenant", "a")).isEqualTo(429);
    }

    @Test
    void addressIsTheSubject() throws Exception {
        assertThat(status("/by-address", "X-Forwarded-For", "198.51.100.1")).isEqualTo(200);
        assertThat(status("/by-address", "X-Forwarded-For", "198.51.100.2")).isEqualTo(200);
        assertThat(status("/by-address", "X-Forwarded-For", "198.51.100.1")).isEqualTo(429);
    }

    @Test
    void addressIsTheSubjectOfNobody() throws Exception {
        assertThat(status("/by-user", "X-Forwarded-For", "198.51.100.3")).isEqualTo(200);
        assertThat(status("/by-user", "X-Forwarded-For", "198.51.100.4")).isEqualTo(200);
        assertThat(status("/by-user", "X-Forwarded-For", "198.51.100.3")).isEqualTo(429);
    }

    @Test
    void beanGivesTheSubject() throws Exception {
        assertThat(status("/by-bean?tenant=a")).isEqualTo(200);
        assertThat(status("/by-bean?tenant=b")).isEqualTo(200);
        assertThat(status("/by-bean?tenant=a")).isEqualTo(429);
    }

    private static int status(String path, String... headers) throws IOException, InterruptedException {
        return application.get(path, headers).statusCode();
    }
}
