package dev.ratelimit.store.swap;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Tries of one call, until a bound. The first repetition follows at once; from the second on there is a pause before each,
 * which grows and is random: instances that have lost together must not come back together. Not thread-safe.
 */
public final class Backoff {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(1);

    /** So many times the first one. */
    private static final int LONGEST_PAUSE = 32;

    private final LongSupplier nanoTime;
    private final LongConsumer pause;
    private final long end;
    private final long longest;
    private long next;
    private int lost;

    private Backoff(Duration bound, Duration firstPause, LongSupplier nanoTime, LongConsumer pause) {
        this.nanoTime = nanoTime;
        this.pause = pause;
        this.next = firstPause.toNanos();
        this.longest = LONGEST_PAUSE * next;
        this.end = nanoTime.getAsLong() + bound.toNanos();
    }

    /** For a call that begins now, and is to end within that time. */
    public static Backoff within(Duration bound) {
        return within(bound, FIRST_PAUSE);
    }

    /** The same for a store that answers faster than others. */
    public static Backoff within(Duration bound, Duration firstPause) {
        return new Backoff(bound, firstPause, System::nanoTime, LockSupport::parkNanos);
    }

    /** The same by another clock, for tests. */
    static Backoff within(Duration bound, LongSupplier nanoTime, LongConsumer pause) {
        return new Backoff(bound, FIRST_PAUSE, nanoTime, pause);
    }

    /**
     * After a try that has lost: waits until the next one may begin.
     *
     * @return whether there is time for another try
     */
    public boolean again() {
        if (++lost > 1) {
            long wait = ThreadLocalRandom.current().nextLong(next / 2, next + 1);
            if (nanoTime.getAsLong() + wait >= end) {
                return false;
            }
            pause.accept(wait);
            next = Math.min(longest, 2 * next);
        }
        return nanoTime.getAsLong() < end;
    }

    /** How many tries have lost. */
    public int lost() {
        return lost;
    }
}
