package dev.ratelimit.connection;

import dev.ratelimit.store.LimitStore;
import org.jspecify.annotations.Nullable;

/**
 * The use of the limiter's connections at one moment.
 *
 * @param active how many are in use
 * @param idle how many are open and not in use
 * @param waiting how many threads wait for one
 * @param capacity how many there may be
 */
public record PoolStatus(int active, int idle, int waiting, int capacity) {

    /** The connections of a store; {@code null} if it has none of its own, or is not open yet. */
    public static @Nullable PoolStatus of(@Nullable LimitStore store) {
        if (store instanceof AwaitedLimitStore awaited) {
            return of(awaited.opened());
        }
        return store instanceof PooledLimitStore pooled ? pooled.poolStatus() : null;
    }
}
