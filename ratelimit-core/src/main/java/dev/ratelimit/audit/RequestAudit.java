package dev.ratelimit.audit;

import dev.ratelimit.DecisionListener;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.sql.Outage;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.OncePerMinute;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * Writes the audit trail and the totals of this instance, on a thread and a connection of its own. The thread of a request only
 * adds to memory, which is bounded. Safe for use by many threads.
 */
public final class RequestAudit implements DecisionListener, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RequestAudit.class);

    private static final int WRITES_PER_TOTALS = 5;
    private static final Duration PREPARE_EVERY = Duration.ofHours(1);
    private static final Duration PREPARE_AGAIN_AFTER = Duration.ofMinutes(1);
    private static final Duration SUM_EVERY = Duration.ofMinutes(5);

    /** Sums are the heaviest statements here, and no row may wait for them again and again. */
    private static final Duration SUM_AGAIN_AFTER = Duration.ofMinutes(1);

    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(5);

    private final AuditDatabase database;
    private final InstantSource clock;
    private final boolean totals;
    private final AuditTrail trail;
    private final Rollups rollups;
    private final TotalsSums sums;
    private final OncePerMinute failures = new OncePerMinute();
    private final ScheduledExecutorService writer =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("ratelimit-audit"));

    /** Why the last write failed, or {@code null}. Totals are written less often, so a write without them says nothing of them. */
    private volatile @Nullable String trailFailure;

    private volatile @Nullable String totalsFailure;

    private volatile @Nullable String sumsFailure;

    private int writes;
    private Instant preparedAt = Instant.MIN;
    private Instant summedAt = Instant.MIN;

    /**
     * @param clock of the rows
     * @param caches the caches of the limiter
     */
    public RequestAudit(AuditDatabase database, AuditSettings settings, InstantSource clock, CacheUse caches) {
        this.database = database;
        this.clock = clock;
        this.totals = settings.totals();
        this.trail = new AuditTrail(settings, clock);
        // Another start of this instance has other totals of the same minute: it must not replace ours.
        String start = settings.origin().server() + "/" + UUID.randomUUID();
        this.rollups = new Rollups(settings, start, clock, caches);
        this.sums = new TotalsSums(database, settings.busiestSubjects());
        long interval = settings.interval().toMillis();
        ScheduledFuture<?> unused =
                writer.scheduleWithFixedDelay(this::writeOnSchedule, interval, interval, TimeUnit.MILLISECONDS);
    }

    @Override
    public void recorded(RequestRecord request) {
        trail.recorded(request);
        if (totals) {
            rollups.recorded(request);
        }
    }

    @Override
    public void trialDecided(LimitDecision decision) {
        if (totals) {
            rollups.trialDecided(decision);
        }
    }

    /** One turn of the schedule. */
    void writeOnSchedule() {
        boolean withTotals = ++writes % WRITES_PER_TOTALS == 0 || totalsFailure != null;
        quietly("write the audit trail and totals", () -> write(withTotals));
        if (withTotals) {
            quietly("sum up totals to hours and days", this::sumIfDue);
        }
    }

    /** An exception that escapes would end the schedule. */
    private void quietly(String what, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            if (failures.mayTell(what)) {
                log.warn("Could not {}; trying again: {}", what, Outage.reason(e), Outage.trace(e));
            }
        }
    }

    /** No step waits for the success of another one. The first failure is thrown in the end. */
    private synchronized void write(boolean withTotals) {
        Instant now = clock.instant();
        RuntimeException first = failureOf(() -> prepareIfDue(now));
        RuntimeException ofTrail = failureOf(() -> trail.write(database));
        trailFailure = reason(ofTrail);
        first = first == null ? ofTrail : first;
        if (totals && withTotals) {
            rollups.collect();
            RuntimeException ofTotals = failureOf(() -> rollups.write(database));
            totalsFailure = reason(ofTotals);
            first = first == null ? ofTotals : first;
        }
        throwUnlessNull(first);
    }

    private static void throwUnlessNull(@Nullable RuntimeException failure) {
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable RuntimeException failureOf(Runnable step) {
        try {
            step.run();
            return null;
        } catch (RuntimeException e) {
            return e;
        }
    }

    private static @Nullable String reason(@Nullable RuntimeException failure) {
        if (failure == null) {
            return null;
        }
        Throwable cause = failure instanceof DataAccessException wrapped ? wrapped.getMostSpecificCause() : failure;
        return String.valueOf(cause.getMessage());
    }

    private void prepareIfDue(Instant now) {
        if (isDue(preparedAt, PREPARE_EVERY, now)) {
            preparedAt = now.minus(PREPARE_EVERY).plus(PREPARE_AGAIN_AFTER);
            YearMonth month = YearMonth.from(now.atZone(ZoneOffset.UTC));
            database.prepare(month);
            database.prepare(month.plusMonths(1));
            preparedAt = now;
        }
    }

    /** Minutes that other instances leave alone are summed up soon; so is everything after a failure. */
    private synchronized void sumIfDue() {
        if (!totals) {
            return;
        }
        Instant now = clock.instant();
        long firstWritten = rollups.firstWritten();
        boolean soon = sumsFailure != null || TotalsSums.isLate(firstWritten, now);
        if (isDue(summedAt, soon ? SUM_AGAIN_AFTER : SUM_EVERY, now)) {
            summedAt = now;
            RuntimeException failure = failureOf(() -> sum(now, firstWritten));
            sumsFailure = reason(failure);
            throwUnlessNull(failure);
        }
    }

    private void sum(Instant now, long firstWritten) {
        if (sums.run(now, firstWritten)) {
            rollups.summed();
        }
    }

    /** Also if the clock was set back. */
    private static boolean isDue(Instant last, Duration interval, Instant now) {
        return last.isAfter(now) || last.isBefore(now.minus(interval));
    }

    /** Writes everything now, and sums it up. */
    public synchronized void flush() {
        summedAt = Instant.MIN;
        RuntimeException ofWrite = failureOf(() -> write(true));
        RuntimeException ofSums = failureOf(this::sumIfDue);
        throwUnlessNull(ofWrite == null ? ofSums : ofWrite);
    }

    /** Reads what all instances have written. */
    public Reports reports() {
        return new StoredReports(database);
    }

    /** Why the last write of the audit trail or of totals failed; {@code null} if it did not. They wait in memory meanwhile. */
    public @Nullable String failure() {
        String ofTrail = trailFailure;
        return ofTrail == null ? totalsFailure : ofTrail;
    }

    /**
     * Why the minutes could not be summed up to hours and days the last time; {@code null} if they could. They are in the database,
     * so nothing is lost.
     */
    public @Nullable String sumsFailure() {
        return sumsFailure;
    }

    /** The number of rows of the audit trail that wait to be written. */
    public long waiting() {
        return trail.waiting();
    }

    /** The number of requests that are missing in the audit trail: too many rows were waiting, or the database refused theirs. */
    public long dropped() {
        return trail.dropped();
    }

    /** The number of denials that were written without their sender, since too many rows were waiting. */
    public long merged() {
        return trail.merged();
    }

    /** The number of minutes whose totals are incomplete: the database was unavailable for too long, or refused a row. */
    public long droppedMinutes() {
        return rollups.droppedMinutes();
    }

    /** Writes the rest, for at most five seconds. */
    @Override
    public void close() {
        ScheduledFuture<?> unused = writer.schedule(this::writeRest, 0, TimeUnit.MILLISECONDS);
        writer.shutdown();
        try {
            if (!writer.awaitTermination(LONGEST_CLOSE.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn("Could not write the rest of the audit trail within {} s", LONGEST_CLOSE.toSeconds());
                writer.shutdownNow();
            }
        } catch (InterruptedException e) {
            writer.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void writeRest() {
        try {
            write(true);
            sumIfDue();
        } catch (RuntimeException e) {
            log.warn("Could not write the rest of the audit trail: {}", Outage.reason(e));
        }
    }
}
