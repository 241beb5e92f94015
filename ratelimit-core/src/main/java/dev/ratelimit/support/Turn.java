package dev.ratelimit.support;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits for the turn of a request in a leaky bucket. */
public final class Turn {

    private Turn() {}

    /**
     * Waits that long, mostly not at all.
     *
     * @throws IllegalStateException if the thread is interrupted; it stays interrupted
     */
    public static void await(Duration delay) {
        try {
            TimeUnit.NANOSECONDS.sleep(delay.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a request waited for its turn", e);
        }
    }
}
