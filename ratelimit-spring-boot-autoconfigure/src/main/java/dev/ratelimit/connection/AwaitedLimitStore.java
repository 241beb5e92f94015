package dev.ratelimit.connection;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.StateKey;
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

    private final String where;
    private final Supplier<LimitStore> opening;
    private final int groupsAtOnce;
    private final CompletableFuture<LimitStore> firstAttempt = new CompletableFuture<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    private volatile @Nullable LimitStore store;
    private volatile RuntimeException failure = new IllegalStateException("the first attempt has not ended");

    private AwaitedLimitStore(String where, Supplier<LimitStore> opening, int groupsAtOnce) {
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
        AwaitedLimitStore awaited = new AwaitedLimitStore(where, opening, groupsAtOnce);
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
                    "Starting without the rate limit store; applying on-failure until it is available: {}",
                    isSlow ? where + " does not answer" : LogText.of(failure.getMessage()));
            return awaited;
        }
    }

    private static boolean isUnavailable(Throwable failure) {
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
                log.info("The rate limit store is available; keeping rate limits in {}", where);
                firstAttempt.complete(opened);
            }
        } catch (RuntimeException e) {
            boolean isNews = !String.valueOf(e.getMessage()).equals(failure.getMessage());
            failure = e;
            if (!firstAttempt.completeExceptionally(e) && !isUnavailable(e) && isNews) {
                log.error("The rate limit store is available, but cannot be used: {}", LogText.of(e.getMessage()));
            }
        }
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
