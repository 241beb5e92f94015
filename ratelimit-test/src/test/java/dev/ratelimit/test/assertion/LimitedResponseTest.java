package dev.ratelimit.test.assertion;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The hints of failed assertions name the likely cause, which depends on the status. */
class LimitedResponseTest {

    private static LimitedResponse response(int status, Map<String, String> headers) {
        return new LimitedResponse(status, headers::get, "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "200 | No rule and no @RateLimited applies to the request",
                "200 | @WebMvcTest has limits only with @AutoConfigureRateLimit",
                "401 | Send credentials, or add @WithMockUser",
                "401 | spring-boot-starter-security-test",
                "403 | it may lack a CSRF token: add .with(csrf())",
                "404 | Nothing is at this path",
                "503 | The store is unavailable, and on-failure is closed"
            })
    void answerWithoutHeadersIsExplained(int status, String hint) {
        assertThat(response(status, Map.of()).hint()).startsWith(". ").contains(hint);
    }

    @Test
    void rejectionBySecurityIsNotTakenForAMissingRule() {
        assertThat(response(401, Map.of()).hint()).doesNotContain("No rule");
        assertThat(response(403, Map.of()).hint()).doesNotContain("No rule");
    }

    @ParameterizedTest
    @CsvSource({"200, X-RateLimit-Remaining", "401, X-RateLimit-Remaining", "429, Retry-After"})
    void answerOfALimitNeedsNoHint(int status, String header) {
        assertThat(response(status, Map.of(header, "4")).hint()).isEmpty();
    }
}
