package dev.ratelimit.monitor;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the requests of this instance.
 *
 * <ol>
 *   <li>Each request is counted on its own thread, without a lock and without I/O.
 *   <li>A penalty that begins is one line in the log.
 *   <li>Every minute, the denials of each limit are one line: their number, and about how many subjects.
 *   <li>At an interval, a thread of its own counts the active penalties. Metrics and warnings show the last numbers.
 * </ol>
 *
 * Thread-safe.
 */
public final class Monitor implements DecisionListener, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Monitor.class);

    /** More limits than any configuration has; an application may make names up. */
    private static final int MOST_LIMITS = 1_000;

    private static final Duration TICK = Duration.ofSeconds(5);
    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final boolean logsDenials;
    private final LongSupplier auditDropped;
    private final LongSupplier totalsDropped;
    private final Supplier<@Nullable String> auditFailure;
    private final Supplier<@Nullable String> sumsFailure;
    private final Supplier<List<String>> retentionFailures;
    private final LongSupplier nanoTime;
    private final ActivePenalties penalties;
    private final Map<String, LimitTraffic> limits = new ConcurrentHashMap<>();
    private final MinuteCounts decisions = new MinuteCounts();
    private final MinuteCounts failures = new MinuteCounts();
    private final MinuteCounts dropped = new MinuteCounts();
    private final MinuteCounts droppedTotals = new MinuteCounts();
    private final List<Runnable> afterTick = new CopyOnWriteArrayList<>();
    private long droppedBefore;
    private long droppedTotalsBefore;
    private long loggedAt;
    private @Nullable ScheduledThreadPoolExecutor timer;

    private Monitor(Builder settings) {
        this.logsDenials = settings.logsDenials;
        this.auditDropped = settings.auditDropped;
        this.totalsDropped = settings.totalsDropped;
        this.auditFailure = settings.auditFailure;
        this.sumsFailure = settings.sumsFailure;
        this.retentionFailures = settings.retentionFailures;
        this.nanoTime = settings.nanoTime;
        this.penalties = new ActivePenalties(settings.penalties, settings.penaltiesInterval.toNanos());
        this.loggedAt = nanoTime.getAsLong();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The settings of a monitor. Not thread-safe. */
    public static final class Builder {

        private Supplier<Map<String, Long>> penalties = Map::of;
        private Duration penaltiesInterval = Duration.ofSeconds(30);
        private LongSupplier auditDropped = () -> 0;
        private LongSupplier totalsDropped = () -> 0;
        private Supplier<@Nullable String> auditFailure = () -> null;
        private Supplier<@Nullable String> sumsFailure = () -> null;
        private Supplier<List<String>> retentionFailures = List::of;
        private boolean logsDenials = true;
        private LongSupplier nanoTime = System::nanoTime;

        private Builder() {}

        /**
         * The active penalties.
         *
         * @param byLimit counts them in the database; may fail
         * @param interval how often to do that
         */
        public Builder penalties(Supplier<Map<String, Long>> byLimit, Duration interval) {
            this.penalties = byLimit;
            this.penaltiesInterval = interval;
            return this;
        }

        /** The number of entries that the audit trail has lost, or merged for lack of room, since the start. */
        public Builder auditDropped(LongSupplier sinceStart) {
            this.auditDropped = sinceStart;
            return this;
        }

        /** The number of minutes whose totals are missing or incomplete, since the start. */
        public Builder totalsDropped(LongSupplier sinceStart) {
            this.totalsDropped = sinceStart;
            return this;
        }

        /** Why the audit trail or totals cannot be written at the moment; {@code null} if they can. */
        public Builder auditFailure(Supplier<@Nullable String> reason) {
            this.auditFailure = reason;
            return this;
        }

        /** Why totals of minutes cannot be summed up to hours and days at the moment; {@code null} if they can. */
        public Builder sumsFailure(Supplier<@Nullable String> reason) {
            this.sumsFailure = reason;
            return this;
        }

        /** Why old months or archives are still there. */
        public Builder retentionFailures(Supplier<List<String>> ofLastRun) {
            this.retentionFailures = ofLastRun;
            return this;
        }

        /** Whether penalties and denials are logged. */
        public Builder logsDenials(boolean logged) {
            this.logsDenials = logged;
            return this;
        }

        /** Measures minutes. */
        public Builder nanoTime(LongSupplier time) {
            this.nanoTime = time;
            return this;
        }

        public Monitor build() {
            return new Monitor(this);
        }
    }

    /** Starts the thread that does everything that is due, a few times a minute. */
    public synchronized void start() {
        if (timer == null) {
            ScheduledThreadPoolExecutor started =
                    new ScheduledThreadPoolExecutor(1, DaemonThreads.named("ratelimit-monitor"));
            ScheduledFuture<?> unused =
                    started.scheduleWithFixedDelay(this::tickQuietly, 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
            timer = started;
        }
    }

    private void tickQuietly() {
        try {
            tick();
        } catch (RuntimeException | Error e) {
            // An exception that escapes would end the schedule.
            log.warn("Failed to watch rate limits; trying again: {}", LogText.of(e.getMessage()), LogText.trace(e));
        }
    }

    /** Does what is due: reads the active penalties, and logs the denials of a minute. */
    public void tick() {
        long now = nanoTime.getAsLong();
        // Without the lock: a database that is silent must not keep close() waiting.
        penalties.readIfDue(now);
        countAndLog(now);
        afterTick.forEach(Runnable::run);
    }

    private synchronized void countAndLog(long now) {
        long lost = auditDropped.getAsLong();
        dropped.add(Math.max(0, lost - droppedBefore), now);
        droppedBefore = lost;
        long lostMinutes = totalsDropped.getAsLong();
        droppedTotals.add(Math.max(0, lostMinutes - droppedTotalsBefore), now);
        droppedTotalsBefore = lostMinutes;
        if (now - loggedAt >= MINUTE_NANOS) {
            loggedAt = now;
            if (logsDenials) {
                limits.forEach((name, traffic) -> traffic.log(log, name, now));
            }
        }
    }

    /** Does this work after everything that was due is done, a few times a minute. */
    public void afterEachTick(Runnable work) {
        afterTick.add(work);
    }

    @Override
    public void recorded(RequestRecord request) {
        long now = nanoTime.getAsLong();
        for (RequestRecord.Asked asked : request.asked()) {
            Decision decision = asked.decision();
            decisions.add(1, now);
            if (decision.failure() != null) {
                failures.add(1, now);
            }
            for (LimitDecision one : decision.limits()) {
                count(one, asked.isCharged(), now);
            }
        }
    }

    private void count(LimitDecision decision, boolean charged, long now) {
        String name = decision.limit().name();
        LimitTraffic traffic = limits.get(name);
        if (traffic == null && limits.size() < MOST_LIMITS) {
            traffic = limits.computeIfAbsent(name, made -> new LimitTraffic());
        }
        if (traffic != null) {
            traffic.add(decision, charged, now);
        }
        if (logsDenials && beginsPenalty(decision)) {
            log.info(
                    "Penalizing {} on limit {} until {}",
                    LogText.of(decision.subject()),
                    LogText.of(name),
                    decision.penaltyUntil());
        }
    }

    /** Whether the request was the violation that brought a penalty about. */
    public static boolean beginsPenalty(LimitDecision decision) {
        return decision.outcome() == Outcome.THROTTLED && decision.penaltyUntil() != null;
    }

    /** The limits that requests have been decided on, by name. */
    public Set<String> limits() {
        return new TreeSet<>(limits.keySet());
    }

    /** About how many different subjects the limit has denied in the last minute. */
    public long deniedSubjects(String limit) {
        LimitTraffic traffic = limits.get(limit);
        return traffic == null ? 0 : traffic.deniedSubjects(nanoTime.getAsLong());
    }

    /** The number of active penalties by limit, as it was last read. All instances of a store have the same. */
    public Map<String, Long> activePenalties() {
        return penalties.byLimit();
    }

    Map<String, LimitTraffic> traffic() {
        return limits;
    }

    MinuteCounts decisions() {
        return decisions;
    }

    MinuteCounts failures() {
        return failures;
    }

    MinuteCounts dropped() {
        return dropped;
    }

    MinuteCounts droppedTotals() {
        return droppedTotals;
    }

    @Nullable
    String auditFailure() {
        return auditFailure.get();
    }

    @Nullable
    String sumsFailure() {
        return sumsFailure.get();
    }

    List<String> retentionFailures() {
        return retentionFailures.get();
    }

    ActivePenalties penalties() {
        return penalties;
    }

    long now() {
        return nanoTime.getAsLong();
    }

    @Override
    public synchronized void close() {
        if (timer != null) {
            timer.shutdownNow();
        }
    }
}
