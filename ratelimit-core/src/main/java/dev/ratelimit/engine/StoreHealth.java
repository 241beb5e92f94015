package dev.ratelimit.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in the log when decisions can no longer be had and when they can again: one line for each change. Where some can be
 * had and others not, as when one row is locked, they cannot.
 */
final class StoreHealth {

    private static final Logger log = LoggerFactory.getLogger(StoreHealth.class);

    /** So long nothing may have failed. */
    private static final long STEADY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;
    private final AtomicBoolean failing = new AtomicBoolean();
    private volatile long lastFailureNanos;

    StoreHealth(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    void decided() {
        if (failing.get()
                && nanoTime.getAsLong() - lastFailureNanos >= STEADY_NANOS
                && failing.compareAndSet(true, false)) {
            log.info("Rate limits are decided again");
        }
    }

    void undecided(UndecidedException e) {
        lastFailureNanos = nanoTime.getAsLong();
        if (failing.compareAndSet(false, true)) {
            log.warn(
                    "Rate limits cannot be decided, the failure policy of each request applies: {}",
                    e.getMessage(),
                    e.getCause());
        }
    }
}
