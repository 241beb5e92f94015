package dev.ratelimit.store.swap;

import dev.ratelimit.store.StateKey;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which keys have lost swaps lately. A key that is wrongly in or not in here costs time, nothing else. Safe for use
 * by many threads.
 */
final class LostSwaps {

    /**
     * Losses of a key within one span of time.
     *
     * @param hash that of the key
     * @param since the first of them, in nanoseconds
     * @param count how many
     */
    private record Losses(int hash, long since, int count) {}

    private static final int REMEMBERED = 1 << 12;
    private static final int MANY = 5;
    private static final long SPAN = Duration.ofSeconds(1).toNanos();

    private final AtomicReferenceArray<@Nullable Losses> byHash = new AtomicReferenceArray<>(REMEMBERED);

    void add(StateKey key) {
        int hash = key.hashCode();
        long now = System.nanoTime();
        Losses losses = byHash.get(place(hash));
        boolean more = losses != null && losses.hash() == hash && now - losses.since() < SPAN;
        byHash.set(
                place(hash),
                more && losses != null
                        ? new Losses(hash, losses.since(), losses.count() + 1)
                        : new Losses(hash, now, 1));
    }

    boolean areMany(StateKey key) {
        int hash = key.hashCode();
        Losses losses = byHash.get(place(hash));
        return losses != null
                && losses.hash() == hash
                && losses.count() >= MANY
                && System.nanoTime() - losses.since() < 2 * SPAN;
    }

    private static int place(int hash) {
        return (hash ^ hash >>> 16) & (REMEMBERED - 1);
    }
}
