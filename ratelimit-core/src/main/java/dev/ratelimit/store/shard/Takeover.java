package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.shard.ShardTables.Leaving;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Brings state to its new shard, before the first decision of this instance on it.
 *
 * <ol>
 *   <li>The old shard marks the key as moved, under the lock of its row, and says what state it has. From now on, nobody
 *       can charge it there.
 *   <li>The new shard stores that state, unless it has one: then another instance was faster.
 *   <li>This instance remembers that the key has arrived.
 * </ol>
 *
 * Each step may be repeated, so that an instance that stops in between does no harm. A reset also forgets the state that the
 * mark keeps, so that it does not come back. Thread-safe.
 */
final class Takeover {

    private static final int MOST_REMEMBERED = 100_000;

    private final List<Shard> shards;
    private final Set<StateKey> arrived = ConcurrentHashMap.newKeySet();
    private volatile int version;

    Takeover(List<Shard> shards) {
        this.shards = shards;
    }

    /**
     * Brings all keys of the operations.
     *
     * @return the keys that could not be brought, with the reason
     */
    Map<StateKey, LimitStoreException> bring(List<Operation> group, Placement placement) {
        remember(placement);
        Map<Integer, List<StateKey>> forgotten = new HashMap<>();
        Map<Integer, List<StateKey>> kept = new HashMap<>();
        for (Operation operation : group) {
            boolean reset = operation.kind() == Kind.RESET;
            for (Demand demand : operation.demands()) {
                int from = placement.before(demand.key().subject());
                if (from != Placement.UNKNOWN && (reset || !arrived.contains(demand.key()))) {
                    (reset ? forgotten : kept)
                            .computeIfAbsent(from, shard -> new ArrayList<>())
                            .add(demand.key());
                }
            }
        }
        Map<StateKey, LimitStoreException> stuck = new HashMap<>();
        kept.forEach((from, keys) -> bringFrom(from, keys, placement, false, stuck));
        forgotten.forEach((from, keys) -> bringFrom(from, keys, placement, true, stuck));
        return stuck;
    }

    private void bringFrom(
            int from,
            List<StateKey> keys,
            Placement placement,
            boolean forgotten,
            Map<StateKey, LimitStoreException> stuck) {
        try {
            bring(from, keys.stream().distinct().toList(), placement, forgotten);
        } catch (LimitStoreException e) {
            keys.forEach(key -> stuck.put(key, e));
        }
    }

    /** Brings keys from one shard to those that are theirs. */
    void bring(int from, List<StateKey> keys, Placement placement, boolean forgotten) {
        Map<Integer, List<Leaving>> byShard = new HashMap<>();
        for (Leaving row : tables(from).leave(keys, placement.version, forgotten)) {
            byShard.computeIfAbsent(placement.of(row.key().subject()), shard -> new ArrayList<>())
                    .add(row);
        }
        byShard.forEach((to, rows) -> {
            if (!forgotten && rows.stream().anyMatch(Takeover::saysAnything)) {
                tables(to).arrive(rows);
                forgetPenalties(from, rows, placement);
            }
        });
        if (placement.version == version) {
            arrived.addAll(keys);
        }
    }

    /** Penalties are listed for operators: once they have arrived, they must not be listed twice. */
    private void forgetPenalties(int from, List<Leaving> rows, Placement placement) {
        List<StateKey> keys = rows.stream()
                .filter(row -> !row.violations().isNone())
                .map(Leaving::key)
                .toList();
        if (!keys.isEmpty()) {
            tables(from).leave(keys, placement.version, true);
        }
    }

    private static boolean saysAnything(Leaving row) {
        return !row.state().isFresh() || !row.violations().isNone();
    }

    private ShardTables tables(int shard) {
        return Objects.requireNonNull(shards.get(shard).tables());
    }

    private void remember(Placement placement) {
        if (placement.version != version || arrived.size() > MOST_REMEMBERED) {
            synchronized (this) {
                arrived.clear();
                version = placement.version;
            }
        }
    }

    /** Nothing moves any more. */
    void forget() {
        arrived.clear();
    }
}
