package example.basic;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.RateLimitClock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@SpringBootTest
@AutoConfigureMockMvc
class BasicApplicationTest {

    @Autowired
    MockMvcTester web;

    @Autowired
    RateLimitClock clock;

    @Test
    void sixthRequestWithinAMinuteIsRejected() {
        clock.advance("30s");

        assertThatRequest(web.get().uri("/api/hello")).isLimitedAfter(5);

        assertThatRequest(web.get().uri("/api/hello")).isLimitedBy("api").hasRetryAfter("42s");
        assertThat(web.get().uri("/api/hello"))
                .hasStatus(429)
                .bodyJson()
                .extractingPath("error")
                .isEqualTo("Rate limit exceeded");
    }

    @Test
    void answersSayHowManyAreLeft() {
        assertThatRequest(web.get().uri("/api/hello")).hasRemaining(4);
    }
}
