package dev.ratelimit.connection;

import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.move.MovingLimitStore;
import dev.ratelimit.store.shard.ShardedLimitStore;
import java.util.Objects;
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
        if (store instanceof ShardedLimitStore sharded) {
            return sharded.shards().stream()
                    .map(shard -> of(shard.store()))
                    .filter(Objects::nonNull)
                    .reduce(PoolStatus::and)
                    .orElse(null);
        }
        if (store instanceof MovingLimitStore moving) {
            return of(moving.current());
        }
        return store instanceof PooledLimitStore pooled ? pooled.poolStatus() : null;
    }

    private static PoolStatus and(PoolStatus one, PoolStatus other) {
        return new PoolStatus(
                one.active + other.active,
                one.idle + other.idle,
                one.waiting + other.waiting,
                one.capacity + other.capacity);
    }
}
