package dev.ratelimit.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs when the store stops deciding and when it decides again: one line for each change. While some requests are decided and
 * others are not, as when one row is locked, it does not.
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
            log.info("Store available again; deciding rate limits there");
        }
    }

    void undecided(UndecidedException e) {
        lastFailureNanos = nanoTime.getAsLong();
        if (failing.compareAndSet(false, true)) {
            log.warn("Store unavailable; applying on-failure to each request: {}", e.getMessage());
            if (e.getCause() != null) {
                log.debug("The store failed", e.getCause());
            }
        }
    }
}
