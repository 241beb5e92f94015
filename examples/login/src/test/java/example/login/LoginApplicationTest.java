package example.login;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatResponse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.httpBasic;

import dev.ratelimit.test.RateLimitClock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

@SpringBootTest
@AutoConfigureMockMvc
class LoginApplicationTest {

    @Autowired
    MockMvcTester web;

    @Autowired
    RateLimitClock clock;

    @Test
    void fiveWrongPasswordsAMinute() {
        guessFiveTimes();

        assertThatResponse(account("alice", "guess")).isLimitedBy("login").hasRetryAfter("60s");
        assertThat(account("alice", "wonderland")).hasStatus(429);

        clock.advance("60s");
        assertThat(account("alice", "wonderland")).hasStatusOk();
    }

    @Test
    void threeViolationsBlockForHalfAnHour() {
        guessFiveTimes();
        for (int i = 0; i < 3; i++) {
            assertThatResponse(account("alice", "guess")).isLimitedBy("login");
        }

        clock.advance("60s");
        assertThatResponse(account("alice", "wonderland")).isLimitedBy("login").hasRetryAfter("29m");
        clock.advance("29m");
        assertThat(account("alice", "wonderland")).hasStatusOk();
    }

    @Test
    void rightPasswordsAreNotCounted() {
        for (int i = 0; i < 20; i++) {
            assertThat(account("alice", "wonderland")).hasStatusOk();
        }
    }

    @Test
    void guessesAtOneNameDoNotStopAnother() {
        for (int i = 0; i < 20; i++) {
            assertThat(account("bob", "guess")).hasStatus(i < 5 ? 401 : 429);
            assertThat(account("alice", "wonderland")).hasStatusOk();
        }
    }

    private void guessFiveTimes() {
        for (int i = 0; i < 5; i++) {
            assertThat(account("alice", "guess " + i)).hasStatus(401);
        }
    }

    private MvcTestResult account(String name, String password) {
        return web.get().uri("/account").with(httpBasic(name, password)).exchange();
    }
}
