package dev.ratelimit.engine;

import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs when a part of the store stops deciding and when it decides again: one line for each change. While some of its
 * requests are decided and others are not, as when one row is locked, it does not decide. The store is available while all
 * its parts are.
 */
final class StoreHealth {

    private static final Logger log = LoggerFactory.getLogger(StoreHealth.class);

    /** The store must run without failures for this long. */
    private static final long STEADY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;
    private final Listeners<StoreListener> listeners;
    private final Runnable whenLost;
    private final List<Part> parts = new CopyOnWriteArrayList<>();

    /** When the first part was lost of those that are; guarded by this. */
    private long lostSinceNanos;

    /**
     * @param whenLost runs when a part stops deciding
     */
    StoreHealth(LongSupplier nanoTime, Listeners<StoreListener> listeners, Runnable whenLost) {
        this.nanoTime = nanoTime;
        this.listeners = listeners;
        this.whenLost = whenLost;
    }

    /** A time without decisions of a part. */
    private record Outage(String reason, long sinceNanos) {}

    Part newPart() {
        Part made = new Part();
        parts.add(made);
        return made;
    }

    /** One part of the store. */
    final class Part {

        /** Changed under the lock of the store's health. */
        private volatile @Nullable Outage outage;

        private volatile long lastFailureNanos;

        boolean isAvailable() {
            return outage == null;
        }

        void decided() {
            if (outage != null && nanoTime.getAsLong() - lastFailureNanos >= STEADY_NANOS) {
                regained(this);
            }
        }

        void undecided(UndecidedException e) {
            lastFailureNanos = nanoTime.getAsLong();
            if (outage == null) {
                lost(this, e);
            }
        }

        /** Nobody waits for it any more, or a test begins. */
        void forget() {
            if (outage != null) {
                regained(this);
            }
        }
    }

    private void lost(Part part, UndecidedException e) {
        String inWords;
        boolean isFirst;
        synchronized (this) {
            if (part.outage != null) {
                return;
            }
            long now = nanoTime.getAsLong();
            isFirst = lost() == 0;
            if (isFirst) {
                lostSinceNanos = now;
            }
            part.outage = new Outage(LogText.of(e.getMessage()), now);
            inWords = reason();
        }
        // Others may be decided: those of other parts, or of subjects whose rows are not locked.
        log.warn("Store unavailable; applying on-failure to each request that it does not decide: {}", inWords);
        if (e.getCause() != null) {
            log.debug("The store failed", e.getCause());
        }
        whenLost.run();
        if (isFirst) {
            listeners.tell(listener -> listener.storeLost(inWords));
        }
    }

    private void regained(Part part) {
        long lasted;
        int left;
        synchronized (this) {
            if (part.outage == null) {
                return;
            }
            part.outage = null;
            left = lost();
            lasted = nanoTime.getAsLong() - lostSinceNanos;
        }
        if (left > 0) {
            log.info("Part of the store available again; {} of {} parts are not", left, parts.size());
        } else {
            log.info("Store available again; deciding rate limits there");
            listeners.tell(listener -> listener.storeRegained(Duration.ofNanos(lasted)));
        }
    }

    boolean isAvailable() {
        return lost() == 0;
    }

    /** How many parts do not decide. */
    private int lost() {
        int lost = 0;
        for (Part part : parts) {
            lost += part.isAvailable() ? 0 : 1;
        }
        return lost;
    }

    /** Why the store is unavailable: of the part that was lost first. */
    private String reason() {
        Outage first = null;
        for (Part part : parts) {
            Outage outage = part.outage;
            if (outage != null && (first == null || outage.sinceNanos - first.sinceNanos < 0)) {
                first = outage;
            }
        }
        String reason = first == null ? "" : first.reason;
        return parts.size() == 1 ? reason : lost() + " of " + parts.size() + " parts: " + reason;
    }

    /**
     * @param openParts how many parts are not asked by all requests
     */
    synchronized EngineStatus.Store status(EngineStatus.Circuit circuit, int openParts) {
        int all = Math.max(1, parts.size());
        return lost() == 0
                ? new EngineStatus.Store(true, circuit, null, Duration.ZERO, all, openParts)
                : new EngineStatus.Store(
                        false,
                        circuit,
                        reason(),
                        Duration.ofNanos(nanoTime.getAsLong() - lostSinceNanos),
                        all,
                        openParts);
    }
}
