package dev.ratelimit.test;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Failed logins in the tests of an application. */
@SpringBootTest(
        classes = LoginTest.Application.class,
        properties = {
            "ratelimit.limits.logins.algorithm=fixed-window",
            "ratelimit.limits.logins.max-requests=3",
            "ratelimit.limits.logins.window=1h",
            "ratelimit.login.limit=logins",
            "ratelimit.identity.trusted-proxies=127.0.0.1",
        })
@AutoConfigureMockMvc
class LoginTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        SecurityFilterChain passwords(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .formLogin(Customizer.withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("alice").password("{noop}right").build());
        }

        @Bean
        Home home() {
            return new Home();
        }
    }

    @RestController
    static class Home {

        @GetMapping("/")
        String home() {
            return "home";
        }
    }

    @Autowired
    MockMvcTester mvc;

    private MockMvcTester.MockMvcRequestBuilder basic(String name, String password) {
        return mvc.get().uri("/").headers(headers -> headers.setBasicAuth(name, password));
    }

    private MockMvcTester.MockMvcRequestBuilder form(String name, String password) {
        return mvc.post()
                .uri("/login")
                .contentType(MediaType.APPLICATION_FORM_URLENCODED)
                .param("username", name)
                .param("password", password);
    }

    @Test
    @WithRateLimit(limit = "logins", user = "Alice")
    void usedUpLimitDeniesTheNextLoginOfTheName() {
        assertThat(basic("alice", "right")).hasStatus(429);
        assertThat(form("alice", "right")).hasStatus(429);
        assertThat(basic("bob", "wrong")).hasStatus(401);
    }

    @Test
    @WithMockUser("alice")
    @WithRateLimit(limit = "logins", remaining = 1)
    void userOfTheTestIsTheName() {
        assertThat(form("alice", "wrong")).hasStatus(302);
        assertThatRequest(form("alice", "wrong")).isLimitedBy("logins");
    }

    @Test
    void limitOfLoginsNeedsAName(@Autowired ApplicationContext context) throws Exception {
        assertThatThrownBy(() -> new TestCaller(context, TestCaller.User.current())
                        .prepare(getClass().getDeclaredMethod("withoutAName"), LoginTest.class))
                .hasMessageContaining("user = \"alice\"");
    }

    @WithRateLimit(limit = "logins")
    void withoutAName() {}

    @Nested
    @TestPropertySource(
            properties = {
                "ratelimit.login.name-limit=names",
                "ratelimit.limits.names.algorithm=fixed-window",
                "ratelimit.limits.names.max-requests=30",
                "ratelimit.limits.names.window=1h"
            })
    class ByNameAlone {

        @Test
        @WithRateLimit(limit = "names", user = "alice")
        void usedUpLimitByNameDenies(@Autowired MockMvcTester mvc) {
            assertThat(mvc.get().uri("/").headers(headers -> headers.setBasicAuth("alice", "right")))
                    .hasStatus(429);
        }

        /** In whichever order they run: an earlier login from the same address would let the name pass. */
        @RepeatedTest(2)
        @WithRateLimit(limit = "names", user = "alice", remaining = 1)
        void addressThatIsKnownDoesNotOutliveATest(@Autowired MockMvcTester mvc, @Autowired RateLimitClock clock) {
            assertThat(login(mvc, "198.51.100.7", "wrong")).hasStatus(401);
            assertThat(login(mvc, "198.51.100.1", "right")).hasStatus(429);

            clock.advance("1h");
            assertThat(login(mvc, "198.51.100.1", "right")).hasStatusOk();
        }

        private static MockMvcTester.MockMvcRequestBuilder login(MockMvcTester mvc, String address, String password) {
            return mvc.get()
                    .uri("/")
                    .header("X-Forwarded-For", address)
                    .headers(headers -> headers.setBasicAuth("alice", password));
        }
    }

    /** Which header the proxy writes is learned from requests. */
    @RepeatedTest(2)
    void whatIsKnownOfAProxyDoesNotOutliveATest() {
        for (int i = 0; i < 3; i++) {
            assertThat(withHeaders("198.51.100.1", "203.0.113." + i)).hasStatus(401);
        }
        assertThat(withHeaders("198.51.100.2", "203.0.113.9"))
                .as("counts for the proxy, since the headers disagree")
                .hasStatus(429);

        assertThat(withHeaders("198.51.100.1", null)).hasStatus(401);
        assertThat(withHeaders("198.51.100.3", "203.0.113.9"))
                .as("counts for the client, since the proxy writes X-Forwarded-For")
                .hasStatus(401);
    }

    private MockMvcTester.MockMvcRequestBuilder withHeaders(String forwardedFor, String forwarded) {
        MockMvcTester.MockMvcRequestBuilder request = basic("bob", "wrong").header("X-Forwarded-For", forwardedFor);
        return forwarded == null ? request : request.header("Forwarded", "for=" + forwarded);
    }
}
