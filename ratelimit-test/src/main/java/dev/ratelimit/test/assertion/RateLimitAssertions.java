package dev.ratelimit.test.assertion;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.RequestBuilder;
import org.springframework.test.web.servlet.ResultActions;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.test.web.servlet.client.RestTestClient;

/**
 * Assertions about limits, for every test client of Spring.
 *
 * <pre>{@code
 * assertThatRequest(mvc.post().uri("/login")).isLimitedAfter(5);
 * assertThatResponse(mvc.get().uri("/api/posts").exchange()).hasRemaining(3);
 * assertThatRequest(restClient.get().uri("/api/posts")).hasRetryAfter("42s");
 * }</pre>
 *
 * <p>A request is made once for each assertion, and as often as {@code isLimitedAfter} needs. A response is there already.
 */
public final class RateLimitAssertions {

    private RateLimitAssertions() {}

    public static RateLimitRequestAssert assertThatRequest(MockMvcTester.MockMvcRequestBuilder request) {
        return new RateLimitRequestAssert(() -> of(request.exchange()));
    }

    public static RateLimitRequestAssert assertThatRequest(MockMvc mvc, RequestBuilder request) {
        return new RateLimitRequestAssert(() -> {
            try {
                return of(mvc.perform(request).andReturn());
            } catch (Exception e) {
                throw new AssertionError("The request failed instead of being answered: " + e, e);
            }
        });
    }

    public static RateLimitRequestAssert assertThatRequest(RestTestClient.RequestHeadersSpec<?> request) {
        return new RateLimitRequestAssert(() -> RestTestClients.of(request.exchange()));
    }

    public static RateLimitRequestAssert assertThatRequest(WebTestClient.RequestHeadersSpec<?> request) {
        return new RateLimitRequestAssert(() -> WebTestClients.of(request.exchange()));
    }

    public static RateLimitResponseAssert assertThatResponse(MvcTestResult response) {
        return new RateLimitResponseAssert(of(response));
    }

    public static RateLimitResponseAssert assertThatResponse(MvcResult response) {
        return new RateLimitResponseAssert(of(response));
    }

    public static RateLimitResponseAssert assertThatResponse(ResultActions response) {
        return new RateLimitResponseAssert(of(response.andReturn()));
    }

    /** Reads the response to its end: assert on its body with a request of its own. */
    public static RateLimitResponseAssert assertThatResponse(RestTestClient.ResponseSpec response) {
        return new RateLimitResponseAssert(RestTestClients.of(response));
    }

    /** Reads the response to its end: assert on its body with a request of its own. */
    public static RateLimitResponseAssert assertThatResponse(WebTestClient.ResponseSpec response) {
        return new RateLimitResponseAssert(WebTestClients.of(response));
    }

    private static LimitedResponse of(MvcTestResult result) {
        Throwable failure = result.getUnresolvedException();
        if (failure != null) {
            throw new AssertionError("The request failed instead of being answered: " + failure, failure);
        }
        return of(result.getMvcResult());
    }

    private static LimitedResponse of(MvcResult result) {
        MockHttpServletResponse response = result.getResponse();
        String body = new String(response.getContentAsByteArray(), StandardCharsets.UTF_8);
        return new LimitedResponse(response.getStatus(), response::getHeader, body);
    }

    private static LimitedResponse response(int status, HttpHeaders headers, byte @Nullable [] body) {
        return new LimitedResponse(
                status, headers::getFirst, body == null ? "" : new String(body, StandardCharsets.UTF_8));
    }

    /** Only loaded where it is used: it needs Spring Web's client. */
    private static final class RestTestClients {

        static LimitedResponse of(RestTestClient.ResponseSpec response) {
            var result = response.expectBody().returnResult();
            return response(result.getStatus().value(), result.getResponseHeaders(), result.getResponseBodyContent());
        }
    }

    /** Only loaded where it is used: it needs WebFlux. */
    private static final class WebTestClients {

        static LimitedResponse of(WebTestClient.ResponseSpec response) {
            var result = response.expectBody().returnResult();
            return response(result.getStatus().value(), result.getResponseHeaders(), result.getResponseBodyContent());
        }
    }
}
