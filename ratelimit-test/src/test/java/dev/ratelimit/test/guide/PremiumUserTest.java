package dev.ratelimit.test.guide;

// region test
import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;

import dev.ratelimit.test.WithTier;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@SpringBootTest
@AutoConfigureMockMvc
class PremiumUserTest {

    @Test
    @WithMockUser("alice")
    @WithTier("premium")
    void premiumUsersMayReadMore(@Autowired MockMvcTester mvc) {
        assertThatRequest(mvc.get().uri("/api/posts")).hasRemaining(99);
    }
}
// endregion
