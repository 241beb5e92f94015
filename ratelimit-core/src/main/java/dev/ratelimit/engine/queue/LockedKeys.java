package dev.ratelimit.engine.queue;

import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.StateKey;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The subjects whose state another process holds, such as one that was paused in the middle of a decision. They are not sent
 * to the store for a while: each group with one of them would be held up.
 */
final class LockedKeys {

    private static final int MOST = 10_000;

    private final long nanos;
    private final ConcurrentHashMap<StateKey, Long> until = new ConcurrentHashMap<>();

    LockedKeys(Duration deadline) {
        this.nanos = deadline.multipliedBy(2).toNanos();
    }

    void add(LockedKeysException e) {
        long now = System.nanoTime();
        until.values().removeIf(end -> end - now <= 0);
        if (until.size() + e.keys().size() <= MOST) {
            e.keys().forEach(key -> until.put(key, now + nanos));
        }
    }

    void clear() {
        until.clear();
    }

    void check(List<StateKey> keys) throws UndecidedException {
        if (until.isEmpty()) {
            return;
        }
        long now = System.nanoTime();
        for (StateKey key : keys) {
            Long end = until.get(key);
            if (end != null && end - now > 0) {
                throw UndecidedException.locked();
            }
            if (end != null) {
                until.remove(key, end);
            }
        }
    }
}
