package dev.ratelimit;

import static dev.ratelimit.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.algorithm.FixedWindow;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LimitsTest {

    private static Limit limit(String name, long maxRequests) {
        return Limit.named(name)
                .algorithm(new FixedWindow(maxRequests, Duration.ofMinutes(1)))
                .build();
    }

    @Test
    void limitsAreFoundByName() {
        Limits limits = Limits.of(limit("api", 5), limit("login", 6));

        assertThat(limits.get("login")).isEqualTo(limit("login", 6));
        assertThat(limits.find("api")).isEqualTo(limit("api", 5));
        assertThat(limits.find("API")).isNull();
        assertThat(limits.names()).containsExactlyInAnyOrder("api", "login");
    }

    @Test
    void twoLimitsOfOneNameAreRefused() {
        refused(
                () -> Limits.of(limit("api", 5), limit("login", 5), limit("api", 6)),
                "limit 'api': limit name is 'api'; give each limit a name of its own");
    }

    @Test
    void anUnknownNameIsAnsweredWithTheKnownOnes() {
        assertThatThrownBy(() -> Limits.of(limit("login", 5), limit("api", 5)).get("apy"))
                .isInstanceOf(UnknownLimitException.class)
                .hasMessage("no limit is called 'apy'; the defined limits are api, login");
        assertThatThrownBy(() -> Limits.of().get("api"))
                .isInstanceOf(UnknownLimitException.class)
                .hasMessage("no limit is called 'api'; no limit is defined");
    }
}
