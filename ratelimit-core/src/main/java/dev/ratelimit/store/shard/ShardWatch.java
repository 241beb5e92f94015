package dev.ratelimit.store.shard;

import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
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

    private final @Nullable ShardLists lists;
    private final Takeover takeover;
    private final Mover mover;
    private final @Nullable ScheduledThreadPoolExecutor threads;
    private volatile Placement placement;

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
        this.threads = new ScheduledThreadPoolExecutor(2, DaemonThreads.numbered("ratelimit-shards-"));
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        schedule(threads, this::read, timing.poll());
        schedule(threads, this::move, timing.sweep());
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

    private synchronized void read() {
        Placement found = Objects.requireNonNull(lists).read();
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
    synchronized void join(Shard late) {
        Objects.requireNonNull(lists).join(late);
    }

    /** Reads the list, unless it was read since that placement was in force. */
    Placement readAgain(Placement old) {
        if (lists != null && placement.version == old.version) {
            read();
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
