package dev.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.MemoryLimitStore;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.mock.web.MockHttpServletResponse;

class RateLimitHeadersTest {

    private static final Limit LIMIT = Limit.named("login")
            .algorithm(new FixedWindow(5, Duration.ofMinutes(1)))
            .build();

    @Test
    void decisionWithoutLimitsDoesNotSetTheClock() {
        MockHttpServletResponse response = new MockHttpServletResponse();
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(new MemoryLimitStore(), Limits.of(LIMIT))
                .build()) {
            Decision decision = limiter.decide(Subject.user("alice"), "login");
            Decision nothing = limiter.decide(LimitRequest.NONE);
            new RateLimitHeaders(true, true).write(List.of(decision, nothing), response::setHeader);
        }

        assertThat(response.getHeader("RateLimit"))
                .isIn(IntStream.rangeClosed(0, 60)
                        .mapToObj(seconds -> "\"login\";r=4;t=" + seconds)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void eachFamilyCanBeSwitchedOff(boolean legacy, boolean standard) {
        MockHttpServletResponse response = new MockHttpServletResponse();
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(new MemoryLimitStore(), Limits.of(LIMIT))
                .build()) {
            Decision decision = limiter.decide(Subject.user("alice"), "login");
            new RateLimitHeaders(legacy, standard).write(List.of(decision), response::setHeader);
        }

        assertThat(response.getHeader("X-RateLimit-Limit")).isEqualTo(legacy ? "5" : null);
        assertThat(response.getHeader("X-RateLimit-Remaining")).isEqualTo(legacy ? "4" : null);
        assertThat(response.containsHeader("X-RateLimit-Reset")).isEqualTo(legacy);
        assertThat(response.getHeader("RateLimit-Policy")).isEqualTo(standard ? "\"login\";q=5;w=60" : null);
        assertThat(response.containsHeader("RateLimit")).isEqualTo(standard);
    }
}
