package dev.ratelimit.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class OncePerMinuteTest {

    private final AtomicLong nanos = new AtomicLong(-5);
    private final OncePerMinute log = new OncePerMinute(nanos::get);

    @Test
    void everyPlaceSpeaksOnceAMinute() {
        assertThat(log.mayTell("a")).isTrue();
        assertThat(log.mayTell("a")).isFalse();
        assertThat(log.mayTell("b")).isTrue();

        nanos.addAndGet(Duration.ofMinutes(1).toNanos() - 1);
        assertThat(log.mayTell("a")).isFalse();

        nanos.incrementAndGet();
        assertThat(log.mayTell("a")).isTrue();
        assertThat(log.mayTell("a")).isFalse();
    }
}
