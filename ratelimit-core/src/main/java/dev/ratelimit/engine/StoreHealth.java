package dev.ratelimit.engine;

import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
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
    private final Listeners<StoreListener> listeners;
    private final AtomicReference<@Nullable Outage> outage = new AtomicReference<>();
    private volatile long lastFailureNanos;

    /** A time without decisions of the store. */
    private record Outage(String reason, long sinceNanos) {}

    StoreHealth(LongSupplier nanoTime, Listeners<StoreListener> listeners) {
        this.nanoTime = nanoTime;
        this.listeners = listeners;
    }

    void decided() {
        Outage over = outage.get();
        if (over != null
                && nanoTime.getAsLong() - lastFailureNanos >= STEADY_NANOS
                && outage.compareAndSet(over, null)) {
            Duration lasted = Duration.ofNanos(nanoTime.getAsLong() - over.sinceNanos);
            log.info("Store available again; deciding rate limits there");
            listeners.tell(listener -> listener.storeRegained(lasted));
        }
    }

    void undecided(UndecidedException e) {
        long now = nanoTime.getAsLong();
        lastFailureNanos = now;
        if (outage.get() == null) {
            String harmless = LogText.of(e.getMessage());
            if (outage.compareAndSet(null, new Outage(harmless, now))) {
                log.warn("Store unavailable; applying on-failure to each request: {}", harmless);
                if (e.getCause() != null) {
                    log.debug("The store failed", e.getCause());
                }
                listeners.tell(listener -> listener.storeLost(harmless));
            }
        }
    }

    EngineStatus.Store status(EngineStatus.Circuit circuit) {
        Outage now = outage.get();
        return now == null
                ? new EngineStatus.Store(true, circuit, null, Duration.ZERO)
                : new EngineStatus.Store(
                        false, circuit, now.reason, Duration.ofNanos(nanoTime.getAsLong() - now.sinceNanos));
    }
}
