package dev.ratelimit.test.guide;

// region test
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.RateLimitFaults;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

@SpringBootTest
@AutoConfigureMockMvc
class OutageTest {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    RateLimitFaults faults;

    @Test
    void isUnavailableWithoutItsStore() {
        faults.storeIsDown();
        assertThat(mvc.get().uri("/api/posts")).hasStatus(503);

        faults.storeIsUp();
        assertThat(mvc.get().uri("/api/posts")).hasStatusOk();

        faults.storeAnswersIn("2s");
        assertThat(mvc.get().uri("/api/posts")).hasStatus(503);
    }
}
// endregion
