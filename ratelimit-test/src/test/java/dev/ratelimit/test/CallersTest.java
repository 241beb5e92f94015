package dev.ratelimit.test;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.user;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.client.RestTestClient;

/** {@link WithRateLimit}, {@link WithTier} and {@link WithApiKey}. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.RANDOM_PORT)
@AutoConfigureMockMvc
class CallersTest {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    TestApiKey apiKey;

    @LocalServerPort
    int port;

    private RestTestClient server() {
        return RestTestClient.bindToServer().baseUrl("http://localhost:" + port).build();
    }

    @Test
    @WithRateLimit(limit = "goods", remaining = 2)
    void anonymousCallerHasThatMuchLeft() {
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(2);
    }

    @Test
    @WithRateLimit(limit = "login")
    void nothingIsLeftByDefault() {
        assertThatRequest(mvc.post().uri("/login")).isLimitedBy("login").hasRetryAfter("5m");
    }

    @Test
    @WithMockUser("alice")
    @WithRateLimit(limit = "goods", remaining = 1)
    void theUserOfTheTestHasThatMuchLeft() {
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(1);
        assertThatRequest(mvc.get().uri("/goods").with(user("bob"))).hasRemaining(4);
    }

    @Test
    @WithRateLimit(limit = "goods", remaining = 1)
    void itWorksOverARealConnection() {
        assertThatRequest(server().get().uri("/goods")).isLimitedAfter(1);
    }

    @Test
    @WithRateLimit(limit = "goods", remaining = 0)
    @WithRateLimit(limit = "strict", remaining = 1)
    void severalLimits() {
        assertThatRequest(mvc.get().uri("/goods")).isLimited();
        assertThatRequest(mvc.get().uri("/strict")).isLimitedAfter(1);
    }

    @Test
    @WithRateLimit(limit = "goods", remaining = 0, subject = "user:carol")
    void aSubjectThatIsNamed() {
        assertThatRequest(mvc.get().uri("/goods")).hasRemaining(4);
    }

    @Test
    @WithMockUser("alice")
    @WithTier("premium")
    void tierOfTheUser() {
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(8);
    }

    @Test
    @WithMockUser("alice")
    @WithTier("premium")
    @WithRateLimit(limit = "goods", remaining = 7)
    void remainingIsThatOfTheTier() {
        assertThatRequest(mvc.get().uri("/goods")).hasRemaining(6);
    }

    @Test
    @WithMockUser("alice")
    void withoutTheAnnotationTheTierIsTheDefault() {
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(5);
    }

    @Test
    @WithApiKey(owner = "alice")
    void apiKeyIsSentWithMockMvc() {
        assertThatRequest(mvc.get().uri("/partners/7")).isLimitedAfter(2);
        assertThatRequest(mvc.get().uri("/goods")).hasRemaining(4);
    }

    @Test
    @WithApiKey(owner = "alice")
    void apiKeyIsSentOverARealConnection() {
        assertThatRequest(server().get().uri("/partners/7")).isLimitedAfter(2);
        assertThatRequest(server().get().uri("/partners/7").header("X-API-Key", apiKey.secret()))
                .isLimited();
    }

    @Test
    @WithApiKey(owner = "alice")
    void anApiKeyOfTheRequestIsLeftAlone() {
        assertThat(mvc.get().uri("/partners/7").header("X-API-Key", "unknown")).hasStatus(401);
    }

    @Test
    @WithApiKey(owner = "alice", tier = "premium")
    @WithRateLimit(limit = "quota", remaining = 1)
    void quotaOfTheTierOfTheApiKey() {
        assertThatRequest(mvc.get().uri("/partners/7")).isLimitedAfter(1);
    }

    @Test
    @WithRateLimit(limit = "goods", remaining = 0, subject = "ip:2001:db8::7")
    void anIpv6AddressThatIsNamedIsCountedAsRequestsFromThereAre() {
        assertThatRequest(mvc.get().uri("/goods").remoteAddress("2001:db8::9")).isLimited();
    }

    /** Spring Security forgets the user of a thread after each request of MockMvc. */
    @Nested
    @WithMockUser("alice")
    class AfterARequestInBeforeEach {

        @BeforeEach
        void openThePage() {
            assertThat(mvc.get().uri("/health")).hasStatusOk();
        }

        @Test
        @WithTier("premium")
        void theUserOfTheTestHasTheTier() {
            assertThatRequest(mvc.get().uri("/goods")).hasRemaining(7);
        }

        @Test
        @WithRateLimit(limit = "goods", remaining = 1)
        void theUserOfTheTestHasThatMuchLeft() {
            assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(1);
        }
    }

    @Nested
    @WithMockUser("alice")
    @WithTier("premium")
    class AnnotationsOfTheClass {

        @Test
        void applyToItsMethods() {
            assertThatRequest(mvc.get().uri("/goods")).hasRemaining(7);
        }
    }
}
