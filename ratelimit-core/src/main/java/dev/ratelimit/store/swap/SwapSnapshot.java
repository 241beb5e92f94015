package dev.ratelimit.store.swap;

import dev.ratelimit.store.StateKey;
import java.util.Map;

/**
 * Rows that were read together.
 *
 * @param now the clock of the store, in microseconds since the epoch
 * @param rows those that exist
 */
public record SwapSnapshot(long now, Map<StateKey, SwapRow> rows) {

    SwapRow row(StateKey key) {
        return rows.getOrDefault(key, SwapRow.NONE);
    }
}
