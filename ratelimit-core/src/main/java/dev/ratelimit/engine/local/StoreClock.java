package dev.ratelimit.engine.local;

import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * The clock of the store while the store is unavailable: its last time plus the time since. Its owner guards it by a lock.
 */
final class StoreClock {

    private static final long NANOS_PER_MICRO = 1_000;

    private final @Nullable InstantSource given;
    private long last;
    private long lastNanos;

    /**
     * @param given the clock that the store was given, or {@code null}
     */
    StoreClock(@Nullable InstantSource given) {
        this.given = given;
    }

    /** The store has answered at that time, in microseconds. */
    void answered(long micros) {
        last = micros;
        lastNanos = System.nanoTime();
    }

    /** In microseconds. Before the first answer, the clock of this machine is all there is. */
    long now() {
        if (given != null) {
            return Micros.of(given.instant());
        }
        return last == 0
                ? Micros.of(InstantSource.system().instant())
                : last + (System.nanoTime() - lastNanos) / NANOS_PER_MICRO;
    }
}
