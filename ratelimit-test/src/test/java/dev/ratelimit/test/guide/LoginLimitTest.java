package dev.ratelimit.test.guide;

// region test
import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;

import dev.ratelimit.test.RateLimitClock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@SpringBootTest
@AutoConfigureMockMvc
class LoginLimitTest {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    RateLimitClock clock;

    @Test
    void fiveLoginsAMinute() {
        assertThatRequest(mvc.post().uri("/login")).isLimitedAfter(5);

        clock.advance("18s");
        assertThatRequest(mvc.post().uri("/login")).isLimitedBy("login").hasRetryAfter("42s");

        clock.advance("42s");
        assertThatRequest(mvc.post().uri("/login")).hasRemaining(4);
    }
}
// endregion
