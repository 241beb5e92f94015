package example.basic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

@SpringBootTest(properties = "ratelimit.store.type=memory")
@AutoConfigureMockMvc
class BasicApplicationTest {

    @Autowired
    MockMvcTester web;

    @Test
    void sixthRequestWithinAMinuteIsRejected() {
        for (int i = 0; i < 5; i++) {
            assertThat(web.get().uri("/api/hello")).hasStatusOk();
        }

        MvcTestResult sixth = web.get().uri("/api/hello").exchange();

        assertThat(sixth).hasStatus(429).containsHeader("Retry-After");
        assertThat(sixth).bodyJson().extractingPath("error").isEqualTo("Rate limit exceeded");
    }
}
