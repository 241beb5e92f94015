package dev.ratelimit.test.guide;

// region test
import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;

import dev.ratelimit.test.WithApiKey;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.web.servlet.client.RestTestClient;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class PartnerTest {

    @LocalServerPort
    int port;

    @Test
    @WithApiKey(owner = "alice", tier = "premium")
    void partnersMayReadMore() {
        RestTestClient client = RestTestClient.bindToServer()
                .baseUrl("http://localhost:" + port)
                .build();

        assertThatRequest(client.get().uri("/api/posts")).hasRemaining(99);
    }
}
// endregion
