package dev.ratelimit.audit.retention;

import dev.ratelimit.audit.retention.RetentionPlan.Drop;
import dev.ratelimit.audit.sql.Outage;
import dev.ratelimit.setting.InvalidSettingException;
import dev.ratelimit.support.DaemonThreads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drops months of the audit trail and of totals whose end is past the time to keep them, and archives that have become too old. If
 * there is an archive, a month of the audit trail is dropped only when every row was found in it. Instances take turns. Safe for
 * use by many threads.
 */
public final class Retention implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Retention.class);

    /** Totals that were not summed up before the last stop are summed up first. */
    private static final Duration BEFORE_THE_FIRST_RUN = Duration.ofMinutes(5);

    /** More is a mistake. */
    private static final Duration MOST_AHEAD = Duration.ofHours(1);

    /** An application without rows for longer was stopped or unused, or its clock has leaped. */
    private static final Duration LONGEST_SILENCE = Duration.ofDays(31);

    /** Time for somebody to notice a wrong clock. */
    private static final Duration BELIEVED_AFTER = Duration.ofHours(6);

    /** Somebody waits for the answer, and it holds a connection of reports. */
    private static final Duration LONGEST_PLAN = Duration.ofSeconds(30);

    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(5);

    private final RetentionDatabase database;
    private final RetentionSettings settings;
    private final @Nullable AuditArchive archive;
    private final InstantSource clock;
    private final LongSupplier nanos;
    private final ScheduledExecutorService scheduler =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("ratelimit-retention"));

    private volatile @Nullable RetentionReport lastRun;

    private volatile List<String> failures = List.of();

    /** When the clock was first doubted, in nanoseconds. Used by the scheduler only. */
    private @Nullable Long doubtedSince;

    /**
     * @param archive where the audit trail goes before it is dropped; {@code null} to drop it
     */
    public Retention(
            RetentionDatabase database,
            RetentionSettings settings,
            @Nullable AuditArchive archive,
            InstantSource clock) {
        this(database, settings, archive, clock, System::nanoTime);
    }

    Retention(
            RetentionDatabase database,
            RetentionSettings settings,
            @Nullable AuditArchive archive,
            InstantSource clock,
            LongSupplier nanos) {
        this.nanos = nanos;
        this.database = database;
        this.settings = settings;
        this.archive = archive;
        this.clock = clock;
    }

    /**
     * Runs after five minutes, and then in this interval. A run that fails is logged, and the next one tries again. A missing right
     * is logged at once. If the only clock seems to have leaped by more than a month, nothing is dropped for six hours.
     */
    public Retention every(Duration interval) {
        if (interval.toMillis() < 1 || interval.compareTo(Duration.ofDays(1)) > 0) {
            throw new InvalidSettingException("interval", interval, "write a time from 1ms to 1d, such as 1h");
        }
        scheduler.execute(this::warnOfMissingRights);
        long first = Math.min(BEFORE_THE_FIRST_RUN.toMillis(), interval.toMillis());
        ScheduledFuture<?> unused =
                scheduler.scheduleWithFixedDelay(this::runQuietly, first, interval.toMillis(), TimeUnit.MILLISECONDS);
        return this;
    }

    /** Otherwise it would be noticed when a month ends. */
    private void warnOfMissingRights() {
        try {
            List<String> forbidden = database.forbiddenFunctions();
            if (!forbidden.isEmpty()) {
                log.warn(
                        "The database user may not execute {}, so months of the audit trail cannot be made or dropped; run"
                                + " dev/ratelimit/schema/postgresql/grants.sql of the ratelimit-core jar",
                        String.join(" and ", forbidden));
            }
        } catch (RuntimeException e) {
            log.debug("Could not look at the rights of the database user", e);
        }
    }

    /** An exception that escapes would end the schedule. */
    private void runQuietly() {
        try {
            if (isClockCredible()) {
                run();
            }
        } catch (RuntimeException | Error e) {
            failures = List.of("Could not look for old months: " + e.getMessage());
            log.warn("Retention failed; trying again at the next interval: {}", Outage.reason(e), Outage.trace(e));
        }
    }

    /**
     * Where the clock of this machine is the only one, it could drop everything by a leap of years. If the newest row is long
     * ago, by the time that rows are written now, that is doubted for some hours.
     */
    private boolean isClockCredible() {
        Instant now = clock.instant();
        Instant newest = database.clock() == null ? database.newestBefore(now.minus(BELIEVED_AFTER)) : null;
        if (newest == null || newest.isAfter(now.minus(LONGEST_SILENCE))) {
            doubtedSince = null;
            return true;
        }
        long at = nanos.getAsLong();
        Long since = doubtedSince == null ? at : doubtedSince;
        doubtedSince = since;
        if (at - since >= BELIEVED_AFTER.toNanos()) {
            return true;
        }
        String doubt = "Dropping no months for now: the clock of this machine is at " + now
                + ", but the newest row from before this time is of " + newest
                + ". If the clock is wrong, correct it; if it is right, retention goes on after "
                + BELIEVED_AFTER.toHours()
                + " hours";
        log.warn(doubt);
        failures = List.of(doubt);
        return false;
    }

    /**
     * A dry run: finds out what {@link #run} would do now. Changes and logs nothing, and takes at most half a minute.
     *
     * @throws org.springframework.dao.DataAccessException if the database is unavailable, or too slow
     */
    public RetentionPlan plan() {
        RetentionPlan ofDatabase = database.read(LONGEST_PLAN, () -> {
            Instant now = earlier(clock.instant(), database.clock());
            List<Drop> drops = new ArrayList<>();
            for (RetainedRows rows : RetainedRows.values()) {
                for (YearMonth month : monthsToDrop(rows, now)) {
                    drops.add(dropOf(rows, month));
                }
            }
            return new RetentionPlan(now, List.copyOf(drops), List.of());
        });
        return new RetentionPlan(ofDatabase.at(), ofDatabase.drops(), archivesToDelete(ofDatabase.at()));
    }

    /** A clock that is years ahead must not drop everything. */
    private static Instant earlier(Instant ours, @Nullable Instant ofDatabase) {
        return ofDatabase == null || !ofDatabase.isBefore(ours) ? ours : ofDatabase;
    }

    private Instant nowToRun() {
        Instant ours = clock.instant();
        Instant ofDatabase = database.clock();
        if (ofDatabase != null && ofDatabase.isBefore(ours.minus(MOST_AHEAD))) {
            log.warn(
                    "The clock of this machine is at {}, but that of the database at {}; retention follows the database",
                    ours,
                    ofDatabase);
        }
        return earlier(ours, ofDatabase);
    }

    private List<YearMonth> monthsToDrop(RetainedRows rows, Instant now) {
        return database.monthsBefore(rows, RetentionSettings.firstKept(now, settings.of(rows)));
    }

    private Drop dropOf(RetainedRows rows, YearMonth month) {
        String to = rows == RetainedRows.AUDIT && archive != null ? archive.toString() : null;
        return new Drop(rows, month, database.count(rows, month), to);
    }

    private List<AuditArchive.Month> archivesToDelete(Instant now) {
        if (archive == null) {
            return List.of();
        }
        YearMonth firstKept = RetentionSettings.firstKept(now, settings.archives());
        return archive.months().stream()
                .filter(archived -> archived.month().isBefore(firstKept))
                .toList();
    }

    /**
     * Runs now, unless another instance does. A month that fails is logged and reported, and the others go on.
     *
     * @throws org.springframework.dao.DataAccessException if the database is unavailable
     */
    public RetentionReport run() {
        Instant now = nowToRun();
        Run run = new Run(now);
        boolean alone = true;
        for (RetainedRows rows : RetainedRows.values()) {
            for (YearMonth month : monthsToDrop(rows, now)) {
                alone = alone && run.drop(rows, month);
            }
        }
        for (AuditArchive.Month archived : run.archivesToDeleteOrNone()) {
            alone = alone && run.delete(archived);
        }
        RetentionReport report = new RetentionReport(
                now, !alone, List.copyOf(run.dropped), List.copyOf(run.deleted), List.copyOf(run.failures));
        lastRun = report;
        failures = report.failures();
        return report;
    }

    /** One run. Its steps say whether no other instance was at work. */
    private final class Run {
        private final Instant now;
        private final List<Drop> dropped = new ArrayList<>();
        private final List<YearMonth> deleted = new ArrayList<>();
        private final List<String> failures = new ArrayList<>();

        private Run(Instant now) {
            this.now = now;
        }

        boolean drop(RetainedRows rows, YearMonth month) {
            List<Drop> gone = new ArrayList<>();
            return attempt(
                    rows + " of " + month,
                    () -> {
                        // Another instance may have dropped it before this one was alone.
                        if (monthsToDrop(rows, now).contains(month)) {
                            gone.add(dropNow(rows, month));
                        }
                    },
                    () -> gone.forEach(drop -> {
                        log.info("Dropped {}", drop);
                        dropped.add(drop);
                    }));
        }

        private Drop dropNow(RetainedRows rows, YearMonth month) {
            Drop drop = dropOf(rows, month);
            if (rows == RetainedRows.AUDIT && archive != null) {
                new ArchiveThenDrop(database, archive).run(month);
            } else {
                database.drop(rows, month);
            }
            return drop;
        }

        boolean delete(AuditArchive.Month archived) {
            return attempt("the archive of " + archived.month(), () -> deleteNow(archived.month()), () -> {
                log.info("Deleted the archive of {} ({} rows)", archived.month(), archived.rows());
                deleted.add(archived.month());
            });
        }

        /** A folder that cannot be read must not hide what was dropped before. */
        private List<AuditArchive.Month> archivesToDeleteOrNone() {
            try {
                return archivesToDelete(now);
            } catch (RuntimeException e) {
                failed("old archives", e);
                return List.of();
            }
        }

        private void failed(String what, RuntimeException e) {
            log.warn("Could not drop {}; trying again at the next run: {}", what, Outage.reason(e), Outage.trace(e));
            failures.add("Could not drop " + what + ": " + e.getMessage());
        }

        private void deleteNow(YearMonth month) {
            if (archive != null) {
                archive.delete(month);
            }
        }

        private boolean attempt(String what, Runnable work, Runnable done) {
            try {
                boolean alone = database.runAlone(work);
                if (alone) {
                    done.run();
                }
                return alone;
            } catch (RuntimeException e) {
                failed(what, e);
                return true;
            }
        }
    }

    /** The last run that has ended, or {@code null} if none has. */
    public @Nullable RetentionReport lastRun() {
        return lastRun;
    }

    /** Why old months or archives are still there, as the last run found; empty if nothing failed. */
    public List<String> failures() {
        return failures;
    }

    /** Stops a run that is under way; the next one goes on where it was. */
    @Override
    public void close() {
        scheduler.shutdownNow();
        try {
            if (!scheduler.awaitTermination(LONGEST_CLOSE.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn("Retention did not stop within {} s", LONGEST_CLOSE.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
