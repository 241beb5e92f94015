package dev.ratelimit.test.guide;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.test.RateLimitFaults;
import dev.ratelimit.test.RateLimitRules;
import dev.ratelimit.test.WithApiKey;
import dev.ratelimit.test.WithTier;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.ApplicationContext;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.client.RestTestClient;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@AutoConfigureMockMvc
class PostsTest {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    RateLimitFaults faults;

    @LocalServerPort
    int port;

    @Test
    @WithMockUser("alice")
    @WithTier("premium")
    void premiumUsersMayReadMore() {
        assertThatRequest(mvc.get().uri("/api/posts")).hasRemaining(99);
    }

    @Test
    @WithApiKey(owner = "alice", tier = "premium")
    void partnersMayReadMore() {
        RestTestClient client = RestTestClient.bindToServer()
                .baseUrl("http://localhost:" + port)
                .build();

        assertThatRequest(client.get().uri("/api/posts")).hasRemaining(99);
    }

    @Test
    void isUnavailableWithoutItsStore() {
        faults.storeIsDown();
        assertThat(mvc.get().uri("/api/posts")).hasStatus(503);

        faults.storeIsUp();
        assertThat(mvc.get().uri("/api/posts")).hasStatusOk();

        faults.storeAnswersIn("2s");
        assertThat(mvc.get().uri("/api/posts")).hasStatus(503);
    }

    @Test
    void everyEndpointIsLimited(@Autowired ApplicationContext context) {
        RateLimitRules.verifyEveryEndpointIsLimited(context);
    }
}
