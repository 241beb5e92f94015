package dev.ratelimit.engine.queue;

import dev.ratelimit.Outcome;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Spares requests the wait for a store that is down. While it fails, requests do not ask it; one each interval does, to see
 * whether the store is back. Only a failure of the store opens it: neither a request that is late, as on a busy machine, nor
 * an overload does. Otherwise a flood could switch the limits off.
 */
public final class Breaker {

    /**
     * How long a store that has failed is left alone before it is asked again. A store that is back is used within a
     * second: after this time, and the time that one request waits in vain because a connection is not open yet.
     */
    public static final Duration INTERVAL = Duration.ofMillis(500);

    private static final long CLOSED = Long.MIN_VALUE;

    private final long intervalNanos;
    private final long silenceNanos;
    private final LongSupplier nanoTime;

    /** When the next request is let through, in the time of the clock; or {@link #CLOSED}. */
    private final AtomicLong nextTry = new AtomicLong(CLOSED);

    private volatile @Nullable UndecidedException lastFailure;

    private volatile long lastSuccess;

    /** When the store failed for the first time since it last answered anybody; or {@link #CLOSED}. */
    private final AtomicLong failingSince = new AtomicLong(CLOSED);

    /**
     * @param interval how long the store is left alone
     * @param silence for how long it must have failed, without an answer to anybody
     */
    public Breaker(Duration interval, Duration silence) {
        this(interval, silence, System::nanoTime);
    }

    public Breaker(Duration interval, Duration silence, LongSupplier nanoTime) {
        this.intervalNanos = interval.toNanos();
        this.silenceNanos = silence.toNanos();
        this.nanoTime = nanoTime;
        this.lastSuccess = nanoTime.getAsLong();
    }

    /** Returns if the store may be asked; else throws the last failure. */
    public void check() throws UndecidedException {
        long next = nextTry.get();
        if (next == CLOSED) {
            return;
        }
        long now = nanoTime.getAsLong();
        if (now - next >= 0 && nextTry.compareAndSet(next, opened(now))) {
            return;
        }
        refuse();
    }

    /** Throws the last failure while it is open. Unlike {@link #check}, it tries nothing. */
    public void refuseIfOpen() throws UndecidedException {
        if (isOpen()) {
            refuse();
        }
    }

    private void refuse() throws UndecidedException {
        UndecidedException failure = lastFailure;
        if (failure != null) {
            throw failure;
        }
    }

    /** Whether requests are spared the wait now. */
    public boolean isOpen() {
        long next = nextTry.get();
        return next != CLOSED && nanoTime.getAsLong() - next < 0;
    }

    /** Whether every request asks the store. If it is neither closed nor open, the next request does. */
    public boolean isClosed() {
        return nextTry.get() == CLOSED;
    }

    public void succeeded() {
        lastSuccess = nanoTime.getAsLong();
        if (failingSince.get() != CLOSED) {
            failingSince.set(CLOSED);
        }
        if (nextTry.get() != CLOSED) {
            nextTry.set(CLOSED);
        }
    }

    /**
     * The store has thrown an exception, or its connection was silent for too long.
     *
     * @param askedAt when it was asked
     */
    public void failed(UndecidedException failure, long askedAt) {
        if (failure.outcome() != Outcome.FAILED) {
            return;
        }
        long now = nanoTime.getAsLong();
        long success = lastSuccess;
        failingSince.compareAndSet(CLOSED, askedAt - success > 0 ? askedAt : success);
        long since = failingSince.get();
        if (since != CLOSED && now - since >= silenceNanos) {
            lastFailure = failure.refused();
            nextTry.set(opened(now));
        }
    }

    private long opened(long now) {
        long next = now + intervalNanos;
        return next == CLOSED ? next + 1 : next;
    }
}
