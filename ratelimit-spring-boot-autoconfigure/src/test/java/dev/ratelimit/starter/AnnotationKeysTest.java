package dev.ratelimit.starter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.RateLimitExceededException;
import dev.ratelimit.Subject;
import dev.ratelimit.annotation.RateLimited;
import dev.ratelimit.web.servlet.SubjectResolver;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/** {@code @RateLimited} takes the keys that rules have. */
class AnnotationKeysTest {

    private static RunningApplication application;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        SecurityFilterChain security(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(user("alice"), user("bob"));
        }

        private static UserDetails user(String name) {
            return User.withUsername(name)
                    .password("{noop}" + name)
                    .roles("USER")
                    .build();
        }

        @Bean
        SubjectResolver tenants() {
            return request -> {
                String tenant = request.getParameter("tenant");
                return tenant == null ? null : Subject.of("tenant", tenant);
            };
        }

        @Bean
        SubjectResolver members() {
            return request -> {
                Principal user = request.getUserPrincipal();
                return user == null ? null : Subject.of("member", user.getName());
            };
        }

        @Bean
        Letters letters() {
            return new Letters();
        }

        static class Letters {

            @RateLimited(limit = "one-letter", key = "user")
            public String send() {
                return "sent";
            }
        }

        @RestController
        static class Endpoints {

            private final Letters letters;

            Endpoints(Letters letters) {
                this.letters = letters;
            }

            /** The other thread has the attributes of the request, but not the security context. */
            @GetMapping("/by-user-elsewhere")
            String byUserElsewhere() {
                RequestAttributes request = RequestContextHolder.currentRequestAttributes();
                return CompletableFuture.supplyAsync(() -> {
                            RequestContextHolder.setRequestAttributes(request);
                            try {
                                return letters.send();
                            } catch (RateLimitExceededException e) {
                                return "denied";
                            } finally {
                                RequestContextHolder.resetRequestAttributes();
                            }
                        })
                        .join();
            }

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

            @GetMapping("/by-user-and-address")
            @RateLimited(limit = "one", key = "user+ip")
            String byUserAndAddress() {
                return "ok";
            }

            @GetMapping("/by-session")
            @RateLimited(limit = "one", key = "session")
            String bySession() {
                return "ok";
            }

            @GetMapping("/begin-session")
            String beginSession(HttpSession session) {
                return session.getId();
            }

            @GetMapping("/by-api-key")
            @RateLimited(limit = "one", key = "api-key")
            String byApiKey() {
                return "ok";
            }

            @GetMapping("/by-principal")
            @RateLimited(limit = "one", key = "'principal ' + #principal.name")
            String byPrincipal() {
                return "ok";
            }

            record Search(String text) {}

            @GetMapping("/by-argument")
            @RateLimited(
                    limit = "one",
                    key = "'search ' + #request.text + #client + #principal",
                    countWhen = "#result == 'ok'")
            String byArgument(Search request, String client, String principal) {
                return "ok";
            }

            @GetMapping("/by-parameter")
            @RateLimited(limit = "one", key = "#request.getParameter('name')")
            String byParameter() {
                return "ok";
            }

            @GetMapping("/by-bean")
            @RateLimited(limit = "one", key = "bean:tenants")
            String byBean() {
                return "ok";
            }

            @GetMapping("/by-member")
            @RateLimited(limit = "one", key = "bean:members")
            String byMember() {
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
                "ratelimit.limits.one-user.base=one",
                "ratelimit.limits.one-letter.base=one");
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
    void userIsTheSubjectFromEveryAddress() throws Exception {
        assertThat(statusAs("alice", "/by-user", "198.51.100.5")).isEqualTo(200);
        assertThat(statusAs("bob", "/by-user", "198.51.100.5")).isEqualTo(200);
        assertThat(statusAs("alice", "/by-user", "198.51.100.6")).isEqualTo(429);
    }

    @Test
    void userAndAddressTogetherAreTheSubject() throws Exception {
        assertThat(statusAs("alice", "/by-user-and-address", "198.51.100.7")).isEqualTo(200);
        assertThat(statusAs("alice", "/by-user-and-address", "198.51.100.8")).isEqualTo(200);
        assertThat(statusAs("bob", "/by-user-and-address", "198.51.100.7")).isEqualTo(200);
        assertThat(statusAs("alice", "/by-user-and-address", "198.51.100.7")).isEqualTo(429);
    }

    @Test
    void sessionIsTheSubject() throws Exception {
        String first = newSession();
        String second = newSession();
        assertThat(status("/by-session", "Cookie", first)).isEqualTo(200);
        assertThat(status("/by-session", "Cookie", second)).isEqualTo(200);
        assertThat(status("/by-session", "Cookie", first, "X-Forwarded-For", "198.51.100.9"))
                .isEqualTo(429);
    }

    private static String newSession() throws IOException, InterruptedException {
        return "JSESSIONID=" + application.get("/begin-session").body();
    }

    @Test
    void apiKeyIsTheSubject() throws Exception {
        assertThat(status("/by-api-key", "X-API-Key", "a")).isEqualTo(200);
        assertThat(status("/by-api-key", "X-API-Key", "b")).isEqualTo(200);
        assertThat(status("/by-api-key", "X-API-Key", "a", "X-Forwarded-For", "198.51.100.9"))
                .isEqualTo(429);
    }

    @Test
    void beanGivesTheSubject() throws Exception {
        assertThat(status("/by-bean?tenant=a")).isEqualTo(200);
        assertThat(status("/by-bean?tenant=b")).isEqualTo(200);
        assertThat(status("/by-bean?tenant=a")).isEqualTo(429);
    }

    @Test
    void userIsKnownOnEveryThreadThatServesTheRequest() throws Exception {
        assertThat(bodyAs("alice", "/by-user-elsewhere")).isEqualTo("sent");
        assertThat(bodyAs("bob", "/by-user-elsewhere")).isEqualTo("sent");
        assertThat(bodyAs("alice", "/by-user-elsewhere")).isEqualTo("denied");
    }

    private static String bodyAs(String user, String path) throws Exception {
        return application.getAs(user, path).body();
    }

    @Test
    void beanFindsTheUserInTheRequest() throws Exception {
        assertThat(statusAs("alice", "/by-member", "198.51.100.20")).isEqualTo(200);
        assertThat(statusAs("bob", "/by-member", "198.51.100.20")).isEqualTo(200);
        assertThat(statusAs("alice", "/by-member", "198.51.100.21")).isEqualTo(429);
    }

    @Test
    void principalIsKnownAsInRules() throws Exception {
        assertThat(statusAs("alice", "/by-principal", "198.51.100.10")).isEqualTo(200);
        assertThat(statusAs("bob", "/by-principal", "198.51.100.10")).isEqualTo(200);
        assertThat(statusAs("alice", "/by-principal", "198.51.100.11")).isEqualTo(429);
    }

    @Test
    void argumentHidesAVariableOfTheRequest() throws Exception {
        assertThat(status("/by-argument?text=a&client=b&principal=c")).isEqualTo(200);
        assertThat(status("/by-argument?text=x&client=b&principal=c")).isEqualTo(200);
        assertThat(status("/by-argument?text=a&client=x&principal=c")).isEqualTo(200);
        assertThat(status("/by-argument?text=a&client=b&principal=x")).isEqualTo(200);
        assertThat(status("/by-argument?text=a&client=b&principal=c", "X-Forwarded-For", "198.51.100.12"))
                .isEqualTo(429);
    }

    /** As in rules: a user who is known would otherwise have a count of her own, whatever the address. */
    @ParameterizedTest
    @CsvSource({"'', 198.51.100.30", "?name=, 198.51.100.31", "?name=%20%09, 198.51.100.32"})
    void keyWithoutAValueCountsByTheAddress(String query, String address) throws Exception {
        assertThat(statusAs("alice", "/by-parameter" + query, address)).isEqualTo(200);
        assertThat(statusAs("bob", "/by-parameter" + query, address)).isEqualTo(429);
    }

    @Test
    void blanksAroundAValueDoNotCount() throws Exception {
        assertThat(status("/by-parameter?name=%20x")).isEqualTo(200);
        assertThat(status("/by-parameter?name=x%09")).isEqualTo(429);
    }

    private static int statusAs(String user, String path, String address) throws Exception {
        return new LoginClient(application, address).basic(path, user, user).statusCode();
    }

    private static int status(String path, String... headers) throws IOException, InterruptedException {
        return application.get(path, headers).statusCode();
    }
}
