package dev.ratelimit.test;

import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatRequest;
import static dev.ratelimit.test.assertion.RateLimitAssertions.assertThatResponse;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.client.reactive.JdkClientHttpConnector;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.client.RestTestClient;

/** The assertions with every test client of Spring, and their messages. */
@SpringBootTest(classes = Shop.class, webEnvironment = WebEnvironment.RANDOM_PORT)
@AutoConfigureMockMvc
class ClientsTest {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    MockMvc mockMvc;

    @Autowired
    RateLimitClock clock;

    @LocalServerPort
    int port;

    private RestTestClient restClient() {
        return RestTestClient.bindToServer().baseUrl("http://localhost:" + port).build();
    }

    private WebTestClient webClient() {
        return WebTestClient.bindToServer(new JdkClientHttpConnector())
                .baseUrl("http://localhost:" + port)
                .build();
    }

    @Test
    void mockMvcTester() {
        assertThatRequest(mvc.get().uri("/goods")).hasRemaining(4);
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(4);
        clock.advance("18s");
        assertThatResponse(mvc.get().uri("/goods").exchange())
                .isLimitedBy("goods")
                .hasRetryAfter("42s")
                .hasRemaining(0);
    }

    @Test
    void mockMvc() throws Exception {
        assertThatRequest(mockMvc, get("/goods")).isLimitedAfter(5);
        assertThatResponse(mockMvc.perform(get("/goods"))).isLimited();
        assertThatResponse(mockMvc.perform(get("/goods")).andReturn()).isLimited();
    }

    @Test
    void restTestClient() {
        assertThatRequest(restClient().get().uri("/goods")).isLimitedAfter(5);
        assertThatResponse(restClient().get().uri("/goods").exchange()).isLimitedBy("goods");
    }

    @Test
    void webTestClient() {
        assertThatRequest(webClient().get().uri("/goods")).isLimitedAfter(5);
        assertThatResponse(webClient().get().uri("/goods").exchange()).isLimitedBy("goods");
    }

    @Test
    void limitedTooEarly() {
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/partners/7")).isLimitedAfter(5))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("expected to be limited after 5 requests, but request 3 was answered 429 by limit"
                        + " partners, Retry-After 60");
    }

    @Test
    void limitedTooLate() {
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(3))
                .hasMessageContaining(
                        "expected to be limited after 3 requests, but request 4 was answered 200, 1 remaining");
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).isLimited())
                .hasMessageContaining("expected to be limited, but was answered 200, 0 remaining");
    }

    @Test
    void notLimitedAtAll() {
        assertThatCode(() -> assertThatRequest(mvc.get().uri("/news/1")).isNotLimitedFor(20))
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/news/1")).isLimitedAfter(1))
                .hasMessageContaining("expected to be limited after 1 request, but request 2 was answered 200 without"
                        + " rate limit headers. No rule and no @RateLimited applies to the request");
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/news/1")).hasRemaining(3))
                .hasMessageContaining(
                        "expected 3 remaining requests, but was answered 200 without rate limit headers." + " No rule");
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/news/1")).isLimited())
                .hasMessageContaining(
                        "expected to be limited, but was answered 200 without rate limit headers. No rule");
    }

    @Test
    void limitedWhereItShouldNot() {
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).isNotLimitedFor(6))
                .hasMessageContaining(
                        "expected not to be limited for 6 requests, but request 6 was answered 429 by limit"
                                + " goods, Retry-After 60");
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).isNotLimited())
                .hasMessageContaining("expected not to be limited, but was answered 429 by limit goods");
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).isLimitedBy("login"))
                .hasMessageContaining("expected to be limited by 'login', but was answered 429 by limit goods");
    }

    @Test
    void otherNumbers() {
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).hasRemaining(3))
                .hasMessageContaining("expected 3 remaining requests, but 4 remain");
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).hasRetryAfter("42s"))
                .hasMessageContaining("expected Retry-After to be 42s, but was answered 200 without that header");
        assertThatRequest(mvc.get().uri("/goods")).isLimitedAfter(3);
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).hasRetryAfter("42s"))
                .hasMessageContaining("expected Retry-After to be 42s, but it is 1m");
        assertThatThrownBy(() -> assertThatRequest(mvc.get().uri("/goods")).hasRetryAfter("soon"))
                .hasMessageContaining("time is 'soon'; write a time such as 500ms, 10s");
    }
}
