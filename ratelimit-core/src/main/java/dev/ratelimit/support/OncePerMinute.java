package dev.ratelimit.support;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Keeps a failure that every request may meet from flooding the log: each place may speak once a minute. Meant for places
 * that a configuration or code names, so that there are few. Safe for use by many threads.
 */
public final class OncePerMinute {

    private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

    private final ConcurrentHashMap<Object, Long> spoken = new ConcurrentHashMap<>();
    private final LongSupplier nanos;

    public OncePerMinute() {
        this(System::nanoTime);
    }

    OncePerMinute(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Whether the place has not spoken for a minute. If so, it has now. */
    public boolean mayTell(Object place) {
        long now = nanos.getAsLong();
        Long before = spoken.get(place);
        if (before != null && now - before < MINUTE) {
            return false;
        }
        return before == null ? spoken.putIfAbsent(place, now) == null : spoken.replace(place, before, now);
    }
}
