package dev.ratelimit.store.redis;

import dev.ratelimit.store.StateKey;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The values that this process wrote or read last. A decision on one of them is a single call: the server says if it is no
 * longer the stored one. Bounded: when there are too many, those that were not used for long are forgotten.
 */
final class RememberedValues {

    /** About 20 megabytes, with names as long as a UUID; 70 if all values are logs of the longest length. */
    static final int MOST = 50_000;

    /** Longer logs are asked for each time. */
    private static final int LONGEST_LOG = 128;

    /** How many more swaps must be lost than won before a key counts as contended. */
    private static final int CONTENDED = 4;

    private static final int MOST_LOSSES = 16;

    private final int generation;

    /** A key is in at least one of them. The older one is dropped when the younger one is full. */
    private volatile ConcurrentHashMap<StateKey, Remembered> young = new ConcurrentHashMap<>();

    private volatile ConcurrentHashMap<StateKey, Remembered> old = new ConcurrentHashMap<>();

    RememberedValues(int most) {
        this.generation = Math.max(1, most / 2);
    }

    /**
     * @param losses rises with each lost swap, and falls with each that was won
     */
    private record Remembered(Stored stored, int losses) {}

    /** The value, or {@link Stored#NONE}. */
    Stored get(StateKey key) {
        Remembered found = find(key);
        return found == null ? Stored.NONE : found.stored;
    }

    private @Nullable Remembered find(StateKey key) {
        Remembered found = young.get(key);
        return found != null ? found : old.get(key);
    }

    void won(StateKey key, Stored stored) {
        Remembered before = find(key);
        put(key, stored, before == null ? 0 : Math.max(0, before.losses - 1));
    }

    void lost(StateKey key, Stored stored) {
        Remembered before = find(key);
        if (before == null || stored.isNone()) {
            // It is no loss to learn a value for the first time, nor that it has expired.
            put(key, stored, before == null ? 0 : before.losses);
        } else {
            put(key, stored, Math.min(MOST_LOSSES, before.losses + 2));
        }
    }

    boolean isContended(StateKey key) {
        Remembered found = find(key);
        return found != null && found.losses >= CONTENDED;
    }

    private void put(StateKey key, Stored stored, int losses) {
        boolean tooLong = stored.state().count().log().size() > LONGEST_LOG;
        if (losses == 0 && (stored.isNone() || tooLong)) {
            young.remove(key);
            old.remove(key);
            return;
        }
        young.put(key, new Remembered(tooLong ? Stored.NONE : stored, losses));
        if (young.size() > generation) {
            age();
        }
    }

    private synchronized void age() {
        if (young.size() > generation) {
            old = young;
            young = new ConcurrentHashMap<>();
        }
    }

    void clear() {
        young = new ConcurrentHashMap<>();
        old = new ConcurrentHashMap<>();
    }
}
