package dev.ratelimit.connection;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that was unavailable at startup ({@code ratelimit.store.required: false}).
 *
 * <ol>
 *   <li>The startup waits for the first attempt to open it, but not for long. If it succeeds, that store is used.
 *   <li>Otherwise a thread tries again twice a second. Meanwhile every decision fails at once, so that on-failure applies.
 *   <li>As soon as the store is open, it decides.
 * </ol>
 *
 * A store that is available but invalid, such as one with a newer schema, stops the startup all the same.
 */
public final class AwaitedLimitStore implements LimitStore {

    private static final Logger log = LoggerFactory.getLogger(AwaitedLimitStore.class);

    public static final Duration LONGEST_AT_START = Duration.ofSeconds(5);

    private static final Duration PAUSE = Duration.ofMillis(500);

    private final String name;
    private final String where;
    private final Supplier<LimitStore> opening;
    private final int groupsAtOnce;
    private final CompletableFuture<LimitStore> firstAttempt = new CompletableFuture<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    private volatile @Nullable LimitStore store;
    private volatile RuntimeException failure = new IllegalStateException("the first attempt has not ended");

    private AwaitedLimitStore(String name, String where, Supplier<LimitStore> opening, int groupsAtOnce) {
        this.name = name;
        this.where = where;
        this.opening = opening;
        this.groupsAtOnce = groupsAtOnce;
    }

    /**
     * Opens a store, or returns one that will be opened later.
     *
     * @param where where state is kept, for the log
     * @param groupsAtOnce that of the store
     */
    public static LimitStore open(String where, Supplier<LimitStore> opening, int groupsAtOnce, Duration longest) {
        return open(new AwaitedLimitStore("the rate limit store", where, opening, groupsAtOnce), longest);
    }

    /** Opens one of several shards, as {@link #open(String, Supplier, int, Duration)} does. */
    public static LimitStore openShard(String shard, Supplier<LimitStore> opening, int groupsAtOnce, Duration longest) {
        String name = "shard " + shard;
        return open(new AwaitedLimitStore(name, name, opening, groupsAtOnce), longest);
    }

    private static LimitStore open(AwaitedLimitStore awaited, Duration longest) {
        DaemonThreads.named("ratelimit-store").newThread(awaited::keepOpening).start();
        try {
            return awaited.firstAttempt
                    .orTimeout(longest.toMillis(), TimeUnit.MILLISECONDS)
                    .join();
        } catch (CompletionException e) {
            Throwable failure = Objects.requireNonNull(e.getCause());
            boolean isSlow = failure instanceof TimeoutException;
            if (!isSlow && !isUnavailable(failure)) {
                awaited.close();
                throw (RuntimeException) failure;
            }
            log.warn(
                    "Starting without {}; applying on-failure until it is available: {}",
                    LogText.of(awaited.name),
                    isSlow ? awaited.where + " does not answer" : LogText.of(failure.getMessage()));
            return awaited;
        }
    }

    /** Whether the store may become available without a change of the application. */
    public static boolean isUnavailable(Throwable failure) {
        return failure instanceof LimitStoreException && !(failure instanceof MissingDriverException);
    }

    private void keepOpening() {
        try {
            do {
                tryToOpen();
            } while (store == null && !closed.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void tryToOpen() {
        try {
            LimitStore opened = opening.get();
            store = opened;
            if (closed.getCount() == 0) {
                opened.close();
            } else {
                log.info("{} is available; keeping rate limits in {}", sentence(name), where);
                firstAttempt.complete(opened);
            }
        } catch (RuntimeException e) {
            boolean isNews = !String.valueOf(e.getMessage()).equals(failure.getMessage());
            failure = e;
            if (!firstAttempt.completeExceptionally(e) && !isUnavailable(e) && isNews) {
                log.error("{} is available, but cannot be used: {}", sentence(name), LogText.of(e.getMessage()));
            }
        }
    }

    private static String sentence(String name) {
        return LogText.of(Character.toUpperCase(name.charAt(0)) + name.substring(1));
    }

    /** Whether a store and all of its shards are open by now. */
    public static boolean isAvailable(LimitStore store) {
        if (store instanceof ShardedLimitStore sharded) {
            return sharded.shards().stream().allMatch(shard -> isAvailable(shard.store()));
        }
        if (store instanceof ForwardingLimitStore forwarding) {
            return isAvailable(forwarding.target());
        }
        return !(store instanceof AwaitedLimitStore awaited) || awaited.isOpen();
    }

    /** Whether the store is open by now. */
    public boolean isOpen() {
        return store != null;
    }

    /** The store itself once it is open; {@code null} before. */
    public @Nullable LimitStore opened() {
        return store;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        LimitStore opened = store;
        if (opened == null) {
            throw new LimitStoreException("not available since the start: " + failure.getMessage(), failure);
        }
        return opened.decide(group);
    }

    @Override
    public boolean answersInTime() {
        LimitStore opened = store;
        return opened == null || opened.answersInTime();
    }

    @Override
    public int groupsAtOnce() {
        return groupsAtOnce;
    }

    @Override
    public int part(StateKey key) {
        LimitStore opened = store;
        return opened == null ? 0 : opened.part(key);
    }

    @Override
    public boolean isContended(StateKey key) {
        LimitStore opened = store;
        return opened != null && opened.isContended(key);
    }

    @Override
    public Pruned prune(long keepMicros) {
        LimitStore opened = store;
        return opened == null ? Pruned.NOTHING_WHILE_BUSY : opened.prune(keepMicros);
    }

    @Override
    public void close() {
        closed.countDown();
        LimitStore opened = store;
        if (opened != null) {
            opened.close();
        }
    }
}
