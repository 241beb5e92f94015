package dev.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RateLimitClockTest {

    private static final Instant START = Instant.parse("2026-03-02T10:00:00Z");

    private final RateLimitClock clock = new RateLimitClock(START);

    @Test
    void standsStillUntilItIsMoved() {
        assertThat(clock.instant()).isEqualTo(START);
        clock.advance("1m");
        assertThat(clock.instant()).isEqualTo("2026-03-02T10:01:00Z");
        clock.advance(Duration.ofMillis(5));
        assertThat(clock.instant()).isEqualTo("2026-03-02T10:01:00.005Z");
        clock.set("2026-01-01T00:00:00Z");
        assertThat(clock.instant()).isEqualTo("2026-01-01T00:00:00Z");
    }

    @Test
    void runsIfItIsToldTo() {
        clock.run();
        await().until(() -> clock.instant().isAfter(START));
        clock.advance("1h");
        clock.stop();
        Instant stopped = clock.instant();
        assertThat(stopped).isAfter(START.plus(Duration.ofHours(1)));
        assertThat(clock.instant()).isEqualTo(stopped);
    }

    @Test
    void startsAtAWholeMinuteNearThePresent() {
        Instant instant = new RateLimitClock().instant();
        assertThat(instant.getEpochSecond() % 60).isZero();
        assertThat(instant).isBetween(Instant.now().minusSeconds(120), Instant.now());
    }

    @Test
    void mistakes() {
        assertThatThrownBy(() -> clock.advance(Duration.ofSeconds(-1)))
                .hasMessage(
                        "The clock cannot be advanced by PT-1S; write a time of zero or more, or use set(instant) to"
                                + " move it back");
        assertThatThrownBy(() -> clock.advance("a minute"))
                .hasMessage("time is 'a minute'; write a time such as 500ms, 10s, 15m, 1h, 1d or PT15M");
        assertThatThrownBy(() -> clock.set("noon"))
                .hasMessage("The clock cannot be set to 'noon'; write a moment such as 2026-03-02T10:00:00Z");
    }
}
