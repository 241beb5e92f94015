package dev.ratelimit.test.guide;

// region test
import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;

import dev.ratelimit.test.WithRateLimit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@SpringBootTest
@AutoConfigureMockMvc
class UsedUpLimitTest {

    @Test
    @WithRateLimit(limit = "login", remaining = 0)
    void saysWhenToComeBack(@Autowired MockMvcTester mvc) {
        assertThatRequest(mvc.post().uri("/login")).hasRetryAfter("60s");
    }
}
// endregion
