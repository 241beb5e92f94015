package dev.ratelimit.upkeep;

import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.setting.Require;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes expired state and forgotten violations, on a schedule and on call, in small steps that wait for no other process.
 * Several instances may do it at once. Safe for use by many threads.
 */
public final class Upkeep implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Upkeep.class);

    /** How often a run tries again while another process is writing, before it leaves the rest to the next run. */
    private static final int MOST_BUSY_STEPS = 50;

    private static final Duration PAUSE_WHEN_BUSY = Duration.ofMillis(20);

    /** Also after a step that took long since it had to wait. */
    private static final Duration LONGEST_REST = Duration.ofSeconds(1);

    /** The rest after a step, as a multiple of its duration. */
    private enum Pace {
        /** On call: not at all. */
        HURRIED(0, 0),
        /** On schedule: fewer than one in a hundred requests should meet a step, unless so much expires that it must hurry. */
        RELAXED(99, 9);

        private final int rests;
        private final int restsWhenManyExpired;

        Pace(int rests, int restsWhenManyExpired) {
            this.rests = rests;
            this.restsWhenManyExpired = restsWhenManyExpired;
        }

        int restsAfter(Progress progress) {
            return progress == Progress.MANY_EXPIRED ? restsWhenManyExpired : rests;
        }
    }

    /**
     * The end of a run.
     *
     * @param report the number of deleted rows; {@code null} if it failed
     * @param failure why it failed, or {@code null}
     */
    public record LastRun(
            Instant at, @Nullable Report report, @Nullable String failure) {}

    private final LimitStore store;
    private final InstantSource clock;
    private final long keepMicros;
    private final ScheduledExecutorService scheduler;

    /** Whether a run has begun that has not come to the end of the rows. */
    private boolean midway;

    private volatile @Nullable LastRun lastRun;

    /**
     * @param keep how long rows are kept after they have expired, so that a limit that is made slower still finds them
     */
    public Upkeep(LimitStore store, Duration keep) {
        if (keep.isNegative() || keep.compareTo(Require.LONGEST) > 0) {
            throw new InvalidSettingException("keep", keep, "write a time of at most 3660d, such as 1h");
        }
        this.store = store;
        InstantSource given = store.clock();
        this.clock = given == null ? InstantSource.system() : given;
        this.keepMicros = Micros.of(keep);
        this.scheduler = Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("ratelimit-upkeep"));
    }

    /**
     * The number of rows that one run deleted.
     *
     * @param finished whether it came to the end of the rows
     */
    public record Report(long states, long penalties, boolean finished) {}

    /**
     * Runs in this interval from now on. After each step it rests for 99 times as long as the step took, but at most a
     * second. If a quarter of the rows or more had expired, it rests for 9 times as long, so that they do not fill the
     * table. A run that fails is logged, and the next one tries again.
     */
    public Upkeep every(Duration interval) {
        if (interval.toMillis() < 1 || interval.compareTo(Require.LONGEST) > 0) {
            throw new InvalidSettingException("interval", interval, "write a time from 1ms to 3660d, such as 10m");
        }
        ScheduledFuture<?> unused = scheduler.scheduleWithFixedDelay(
                this::runQuietly, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
        return this;
    }

    private void runQuietly() {
        try {
            Report report = run(Pace.RELAXED);
            log.debug("Deleted expired rows: {}", report);
        } catch (RuntimeException | Error e) {
            // An exception that escapes would end the schedule.
            log.warn(
                    "Upkeep failed; trying again at the next interval: {}",
                    LogText.of(e.getMessage()),
                    LogText.trace(e));
        }
    }

    /** Runs now, once over all rows and without resting; a run on schedule that rests meanwhile goes on afterwards. */
    public Report run() {
        return run(Pace.HURRIED);
    }

    /** The last run that has ended, or {@code null} if none has. */
    public @Nullable LastRun lastRun() {
        return lastRun;
    }

    private Report run(Pace pace) {
        try {
            Report report = prune(pace);
            lastRun = new LastRun(clock.instant(), report, null);
            return report;
        } catch (RuntimeException | Error e) {
            lastRun = new LastRun(clock.instant(), null, LogText.of(e.getMessage()));
            throw e;
        }
    }

    private synchronized Report prune(Pace pace) {
        // A scheduled run may be midway. Its end comes first, and a full pass must follow.
        int ends = pace == Pace.HURRIED && midway ? 2 : 1;
        long states = 0;
        long penalties = 0;
        int busySteps = 0;
        while (busySteps < MOST_BUSY_STEPS && !Thread.currentThread().isInterrupted()) {
            long start = System.nanoTime();
            Pruned step = store.prune(keepMicros);
            long took = System.nanoTime() - start;
            states += step.states();
            penalties += step.penalties();
            midway = step.progress() != Progress.FINISHED;
            if (!midway && --ends == 0) {
                return new Report(states, penalties, true);
            }
            if (step.progress() == Progress.BUSY) {
                busySteps++;
                rest(PAUSE_WHEN_BUSY.toNanos());
            } else {
                rest(Math.min(LONGEST_REST.toNanos(), pace.restsAfter(step.progress()) * took));
            }
        }
        return new Report(states, penalties, false);
    }

    /** Lets others run meanwhile. */
    private synchronized void rest(long nanos) {
        long end = System.nanoTime() + nanos;
        try {
            for (long left = nanos; left > 0; left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        scheduler.shutdownNow();
    }
}
