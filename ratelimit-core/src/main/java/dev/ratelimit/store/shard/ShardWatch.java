package dev.ratelimit.store.shard;

import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Knows the list of shards in force, reads it again in the background, and moves state for it. Thread-safe. */
final class ShardWatch implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ShardWatch.class);

    /**
     * How often it works.
     *
     * @param poll how often the list is read
     * @param sweep the pause between two passes over the state that moves
     * @param grace how long other instances may take to learn of a new list
     */
    record Timing(Duration poll, Duration sweep, Duration grace) {

        static final Timing DEFAULT = new Timing(Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofMinutes(10));
    }

    /** One for the clock, one that reads, one that moves. */
    private static final int THREADS = 3;

    private final @Nullable ShardLists lists;
    private final Takeover takeover;
    private final Mover mover;
    private final @Nullable ScheduledThreadPoolExecutor threads;
    private final Object oneReader = new Object();
    private volatile Placement placement;
    private @Nullable CompletableFuture<Void> reading;

    /**
     * @param configured in the order of the configuration
     * @param sorted the same in the order of their names
     */
    ShardWatch(List<Shard> configured, List<Shard> sorted, Takeover takeover, Timing timing) {
        this.takeover = takeover;
        this.mover = new Mover(sorted, takeover, timing.grace());
        if (configured.stream().anyMatch(shard -> shard.tables() == null)) {
            this.lists = null;
            this.threads = null;
            this.placement = Placement.fixed(sorted.stream().map(Shard::name).toList());
            return;
        }
        this.lists = new ShardLists(configured);
        this.placement = lists.agree();
        ScheduledThreadPoolExecutor pool =
                new ScheduledThreadPoolExecutor(THREADS, DaemonThreads.numbered("ratelimit-shards-"));
        this.threads = pool;
        pool.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        Runnable poll = () -> {
            CompletableFuture<Void> unused = startReading(pool);
        };
        schedule(pool, poll, timing.poll());
        schedule(pool, this::move, timing.sweep());
    }

    private static void schedule(ScheduledThreadPoolExecutor threads, Runnable work, Duration every) {
        ScheduledFuture<?> unused = threads.scheduleWithFixedDelay(
                () -> quietly(work), every.toMillis(), every.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** An exception that escapes would end the schedule. */
    private static void quietly(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            log.warn("Cannot read or move shards; trying again: {}", LogText.of(e.getMessage()));
        }
    }

    Placement placement() {
        return placement;
    }

    /** Reads on another thread: a shard may be silent, and requests wait for their deadline only. */
    private synchronized CompletableFuture<Void> startReading(Executor reader) {
        CompletableFuture<Void> underWay = reading;
        if (underWay == null || underWay.isDone()) {
            underWay = CompletableFuture.runAsync(() -> quietly(this::read), reader);
            reading = underWay;
        }
        return underWay;
    }

    private void read() {
        synchronized (oneReader) {
            take(Objects.requireNonNull(lists).read());
        }
    }

    private void take(@Nullable Placement found) {
        if (found == null || found.version < placement.version) {
            return; // the shards with the newest list do not answer
        }
        Placement newest = found.with(placement);
        boolean ended = placement.isMoving() && !newest.isMoving();
        placement = newest;
        if (ended) {
            log.info("All state has moved to the shards of version {}", newest.version);
            takeover.forget();
        }
    }

    /** See {@link ShardLists#join}. */
    void join(Shard late) {
        synchronized (oneReader) {
            Objects.requireNonNull(lists).join(late);
        }
    }

    /**
     * Reads the list, unless it was read since that placement was in force.
     *
     * @param end the longest wait, in the time of {@link System#nanoTime()}
     */
    Placement readAgain(Placement old, long end) {
        // Twice: the first may have been under way before the list was announced.
        for (int i = 0; i < 2 && threads != null && placement.version == old.version; i++) {
            try {
                startReading(threads).get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException | RejectedExecutionException e) {
                log.debug("Going on with the list of shards of version {}", old.version, e);
                break;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        return placement;
    }

    private void move() {
        Placement now = placement;
        if (now.isMoving() && now.knowsAll()) {
            mover.run(now);
        }
    }

    @Override
    public void close() {
        if (threads != null) {
            threads.shutdownNow();
        }
    }
}
