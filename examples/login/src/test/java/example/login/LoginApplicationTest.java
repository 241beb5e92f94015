package example.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.httpBasic;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

@SpringBootTest(properties = "ratelimit.store.type=memory")
@AutoConfigureMockMvc
class LoginApplicationTest {

    @Autowired
    MockMvcTester web;

    @Test
    void fiveWrongPasswordsAMinute() {
        for (int i = 0; i < 5; i++) {
            assertThat(account("alice", "guess " + i)).hasStatus(401);
        }

        assertThat(account("alice", "one more guess")).hasStatus(429).containsHeader("Retry-After");
    }

    @Test
    void rightPasswordsAreNotCounted() {
        for (int i = 0; i < 20; i++) {
            assertThat(account("bob", "wonderland")).hasStatus(i < 5 ? 401 : 429);
            assertThat(account("alice", "wonderland")).hasStatusOk();
        }
    }

    private MvcTestResult account(String name, String password) {
        return web.get().uri("/account").with(httpBasic(name, password)).exchange();
    }
}
