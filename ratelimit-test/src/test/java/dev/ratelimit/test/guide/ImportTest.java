package dev.ratelimit.test.guide;

// region test
import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;

import dev.ratelimit.test.AutoConfigureRateLimit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@SpringBootTest
@AutoConfigureMockMvc
@AutoConfigureRateLimit(enabled = false)
class ImportTest {

    @Test
    void readsManyPosts(@Autowired MockMvcTester mvc) {
        assertThatRequest(mvc.get().uri("/api/posts")).isNotLimitedFor(200);
    }
}
// endregion
