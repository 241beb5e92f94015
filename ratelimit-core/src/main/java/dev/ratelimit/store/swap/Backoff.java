package dev.ratelimit.store.swap;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Tries of one call, until a bound. The first repetition follows at once. Later there are pauses, which grow and are random: instances that have lost together must not come back together. Not thread-safe.
 */
public final class Backoff {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(1);

    /** The longest pause, as a multiple of the first one. */
    private static final int LONGEST_PAUSE = 32;

    private final LongSupplier nanoTime;
    private final LongConsumer pause;
    private final long end;
    private final long longest;
    private final int lossesForAPause;
    private long next;
    private int lost;

    private Backoff(
            Duration bound, Duration firstPause, int lossesForAPause, LongSupplier nanoTime, LongConsumer pause) {
        this.lossesForAPause = lossesForAPause;
        this.nanoTime = nanoTime;
        this.pause = pause;
        this.next = firstPause.toNanos();
        this.longest = LONGEST_PAUSE * next;
        this.end = nanoTime.getAsLong() + bound.toNanos();
    }

    /** For a call that begins now, and is to end within that time. Each try reads the values before it writes. */
    public static Backoff within(Duration bound) {
        return within(bound, System::nanoTime, Backoff::park);
    }

    /** The same by another clock, for tests. */
    static Backoff within(Duration bound, LongSupplier nanoTime, LongConsumer pause) {
        return new Backoff(bound, FIRST_PAUSE, 1, nanoTime, pause);
    }

    /**
     * For a store whose lost try returns the current values. After a pause these are old: the next try only returns the newer ones,
     * and must be followed by another at once. So there is a pause after every second loss.
     */
    public static Backoff inPairsWithin(Duration bound, Duration firstPause) {
        return inPairsWithin(bound, firstPause, System::nanoTime, Backoff::park);
    }

    /** The same by another clock, for tests. */
    static Backoff inPairsWithin(Duration bound, Duration firstPause, LongSupplier nanoTime, LongConsumer pause) {
        return new Backoff(bound, firstPause, 2, nanoTime, pause);
    }

    /**
     * After a try that has lost: waits until the next one may begin.
     *
     * @return whether there is time for another try
     */
    public boolean again() {
        if (++lost > 1 && lost % lossesForAPause == 0) {
            long wait = ThreadLocalRandom.current().nextLong(next / 2, next + 1);
            if (nanoTime.getAsLong() + wait >= end) {
                return false;
            }
            pause.accept(wait);
            next = Math.min(longest, 2 * next);
        }
        return nanoTime.getAsLong() < end;
    }

    /** An interrupt ends no pause: tries without pauses would keep the store busy until the bound. */
    private static void park(long nanos) {
        long end = System.nanoTime() + nanos;
        boolean interrupted = false;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** How many tries have lost. */
    public int lost() {
        return lost;
    }
}
