package dev.ratelimit.store.shard;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.UnreachedStoreException;
import dev.ratelimit.store.shard.ShardTables.Leaving;
import dev.ratelimit.support.DaemonThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Brings state to its new shard, before the first decision of this instance on it.
 *
 * <ol>
 *   <li>The old shard marks the key as moved, under the lock of its row, and says what state it has. From now on, nobody
 *       can charge it there.
 *   <li>The new shard stores that state, unless it has one: then another instance was faster.
 *   <li>The old shard empties the mark. Until then the mark keeps the state, and {@link Mover} brings it again.
 *   <li>This instance remembers that the key has arrived.
 * </ol>
 *
 * Each step may be repeated, so that an instance that stops in between does no harm. A reset empties the mark first, so that
 * the state does not come back.
 *
 * <p>An old shard may be silent, and other subjects of the group must not wait for it. So it is asked on another thread. Once it
 * has kept a group waiting for too long, nobody waits for it until it has answered. Thread-safe.
 */
final class Takeover implements AutoCloseable {

    private static final int MOST_REMEMBERED = 100_000;

    private static final int THREADS_PER_SHARD = 4;

    private final List<Shard> shards;
    private final long longestNanos;
    private final ThreadPoolExecutor threads;

    /** For each old shard the call that it has not answered in time. */
    private final AtomicReferenceArray<@Nullable CompletableFuture<Void>> silent;

    private final Set<StateKey> arrived = ConcurrentHashMap.newKeySet();
    private volatile int version;

    /**
     * @param deadline of a group; half of it is left for its decisions
     */
    Takeover(List<Shard> shards, Duration deadline) {
        this.shards = shards;
        this.longestNanos = deadline.toNanos() / 2;
        this.silent = new AtomicReferenceArray<>(shards.size());
        this.threads = DaemonThreads.pool("ratelimit-takeover-", THREADS_PER_SHARD * shards.size());
    }

    /**
     * Brings all keys of the operations.
     *
     * @param deadline of the group, in the time of {@link System#nanoTime()}
     * @return the keys that could not be brought, with the reason. No shard has been asked to decide on them
     */
    Map<StateKey, LimitStoreException> bring(List<Operation> group, Placement placement, long deadline) {
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
        long now = System.nanoTime();
        long end = now + Math.min(longestNanos, deadline - now);
        bring(kept, placement, false, end, stuck);
        bring(forgotten, placement, true, end, stuck);
        return stuck;
    }

    /** Asks all old shards at once. */
    private void bring(
            Map<Integer, List<StateKey>> byShard,
            Placement placement,
            boolean forgotten,
            long end,
            Map<StateKey, LimitStoreException> stuck) {
        Map<Integer, CompletableFuture<Void>> calls = new HashMap<>();
        byShard.forEach((from, keys) -> {
            try {
                calls.put(from, start(from, keys, placement, forgotten));
            } catch (UnreachedStoreException e) {
                keys.forEach(key -> stuck.put(key, e));
            }
        });
        calls.forEach((from, call) -> {
            try {
                await(from, call, end);
            } catch (UnreachedStoreException e) {
                byShard.getOrDefault(from, List.of()).forEach(key -> stuck.put(key, e));
            }
        });
    }

    private CompletableFuture<Void> start(int from, List<StateKey> keys, Placement placement, boolean forgotten) {
        CompletableFuture<Void> before = silent.get(from);
        if (before != null && !before.isDone()) {
            throw silence(from, new TimeoutException("it has not answered an earlier call"));
        }
        CompletableFuture<Void> call = call(from, keys, placement, forgotten);
        if (before != null && before.isCompletedExceptionally()) {
            silent.compareAndSet(from, before, call); // finds out whether it answers again; this group does not wait
            throw silence(from, new TimeoutException("it has not answered since"));
        }
        return call;
    }

    private CompletableFuture<Void> call(int from, List<StateKey> keys, Placement placement, boolean forgotten) {
        try {
            return CompletableFuture.runAsync(
                    () -> bring(from, keys.stream().distinct().toList(), placement, forgotten), threads);
        } catch (RejectedExecutionException e) {
            throw silence(from, e);
        }
    }

    private void await(int from, CompletableFuture<Void> call, long end) {
        try {
            call.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            silent.set(from, null);
        } catch (TimeoutException e) {
            silent.set(from, call);
            throw silence(from, e);
        } catch (ExecutionException e) {
            throw new UnreachedStoreException("bringing state failed: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnreachedStoreException(
                    "interrupted while bringing state from shard "
                            + shards.get(from).name(),
                    e);
        }
    }

    private UnreachedStoreException silence(int from, Exception cause) {
        return new UnreachedStoreException(
                "shard " + shards.get(from).name() + ", which has the state so far, does not answer", cause);
    }

    /** Brings keys from one shard to those that are theirs. */
    void bring(int from, List<StateKey> keys, Placement placement, boolean forgotten) {
        Map<Integer, List<Leaving>> byShard = new HashMap<>();
        for (Leaving row : tables(from).leave(keys, placement.version, forgotten)) {
            byShard.computeIfAbsent(placement.of(row.key().subject()), shard -> new ArrayList<>())
                    .add(row);
        }
        byShard.forEach((to, rows) -> {
            List<Leaving> full = rows.stream().filter(Takeover::saysAnything).toList();
            if (!forgotten && !full.isEmpty()) {
                tables(to).arrive(full);
                tables(from).leave(full.stream().map(Leaving::key).toList(), placement.version, true);
            }
        });
        if (placement.version == version) {
            arrived.addAll(keys);
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

    @Override
    public void close() {
        threads.shutdown();
    }
}
