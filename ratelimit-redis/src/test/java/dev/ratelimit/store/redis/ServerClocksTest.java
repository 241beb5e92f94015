package dev.ratelimit.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The estimated clock of a server is never ahead of it, whatever happens to clocks. */
class ServerClocksTest {

    private long nanos;
    private final ServerClocks clocks = new ServerClocks(() -> nanos, () -> Instant.ofEpochSecond(7));

    @Test
    void clockOfThisMachineIsTheFirstGuess() {
        assertThat(clocks.now("a")).isEqualTo(7_000_000);
    }

    @Test
    void timeThatPassesHereIsAdded() {
        nanos = 1_000_000;
        clocks.told("a", 5_000_000);

        nanos += 250_000;

        assertThat(clocks.now("a")).isEqualTo(5_000_250);
    }

    @Test
    void eachServerHasItsOwnClock() {
        nanos = 0;
        clocks.told("a", 5_000_000);
        clocks.told("b", 9_000_000);

        assertThat(clocks.now("a")).isEqualTo(5_000_000);
        assertThat(clocks.now("b")).isEqualTo(9_000_000);
        assertThat(clocks.now("c")).isEqualTo(7_000_000);
    }

    @Test
    void clockThatWasSetBackOrAheadIsFollowed() {
        nanos = 0;
        clocks.told("a", 50_000_000);
        clocks.told("a", 20_000_000);
        assertThat(clocks.now("a")).isEqualTo(20_000_000);

        clocks.told("a", 90_000_000);
        assertThat(clocks.now("a")).isEqualTo(90_000_000);
    }

    /** The answer was on its way for a while: the server is further by now, never less far. */
    @Test
    void estimateIsNeverAheadOfTheServer() {
        long serverNanos = 0;
        for (int delayMillis : new int[] {0, 1, 500, 3}) {
            long said = serverNanos / 1_000;
            serverNanos += delayMillis * 1_000_000L;
            nanos = serverNanos;

            clocks.told("a", said);

            assertThat(clocks.now("a")).isLessThanOrEqualTo(serverNanos / 1_000);
        }
    }
}
