package dev.ratelimit.audit.retention;

import static java.time.ZoneOffset.UTC;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When months are dropped and how they are archived first, on any database. */
abstract class RetentionContract {

    static final YearMonth DECEMBER = YearMonth.of(2025, 12);
    static final YearMonth JANUARY = YearMonth.of(2026, 1);

    /** The end of December and 90 days. */
    static final Instant DECEMBER_ENDS = Instant.parse("2026-04-01T00:00:00Z");

    final SettableClock clock = new SettableClock(DECEMBER_ENDS);
    final MemoryArchive archive = new MemoryArchive();
    private final List<Retention> opened = new ArrayList<>();

    RetentionTestDatabase database;

    abstract RetentionTestDatabase create();

    @BeforeEach
    void open() {
        database = create();
    }

    @AfterEach
    void close() {
        opened.forEach(Retention::close);
    }

    /** As another instance would have it. */
    Retention retention(AuditArchive to) {
        Retention one = new Retention(database.open(), RetentionSettings.DEFAULT, to, clock);
        opened.add(one);
        return one;
    }

    static Instant in(YearMonth month) {
        return month.atDay(17).atTime(12, 34, 56, 789_012_000).toInstant(UTC);
    }

    static Instant firstMomentOf(YearMonth month) {
        return month.atDay(1).atStartOfDay().toInstant(UTC);
    }

    private static Instant lastMomentOf(YearMonth month) {
        return firstMomentOf(month.plusMonths(1)).minusNanos(1_000);
    }

    private static List<RetentionPlan.Drop> auditDrops(RetentionReport report) {
        return report.dropped().stream()
                .filter(drop -> drop.rows() == RetainedRows.AUDIT)
                .toList();
    }

    @Test
    void monthIsDroppedWhenItsEndIsPastTheTimeToKeepIt() {
        database.addAudit(lastMomentOf(DECEMBER.minusMonths(1)), "november");
        database.addAudit(firstMomentOf(DECEMBER), "december 1");
        database.addAudit(lastMomentOf(DECEMBER), "december 31");
        database.addAudit(firstMomentOf(JANUARY), "january 1");
        Retention retention = retention(null);

        clock.set(DECEMBER_ENDS.minusNanos(1_000));
        assertThat(auditDrops(retention.run()))
                .extracting(RetentionPlan.Drop::month)
                .containsExactly(DECEMBER.minusMonths(1));
        assertThat(database.users()).containsExactly("december 1", "december 31", "january 1");

        clock.set(DECEMBER_ENDS);
        assertThat(auditDrops(retention.run()))
                .containsExactly(new RetentionPlan.Drop(RetainedRows.AUDIT, DECEMBER, 2, null));
        assertThat(database.users()).containsExactly("january 1");

        assertThat(retention.run().dropped()).isEmpty();
        clock.set(firstMomentOf(JANUARY.plusMonths(1)).plus(Duration.ofDays(90)));
        retention.run();
        assertThat(database.users()).isEmpty();
        assertThat(retention.lastRun().failures()).isEmpty();
    }

    @Test
    void totalsAreKeptForTheirOwnTime() {
        YearMonth month = YearMonth.of(2018, 12);
        for (String granularity : List.of("minute", "hour", "day")) {
            database.addTotals(firstMomentOf(month), granularity);
        }
        Retention retention = retention(null);
        Instant end = firstMomentOf(month.plusMonths(1));

        clock.set(end.plus(Duration.ofDays(31)).minusNanos(1_000));
        retention.run();
        assertThat(database.totals()).containsExactly("day", "hour", "minute");
        clock.set(end.plus(Duration.ofDays(31)));
        retention.run();
        assertThat(database.totals()).containsExactly("day", "hour");
        clock.set(end.plus(Duration.ofDays(400)));
        retention.run();
        assertThat(database.totals()).containsExactly("day");
        clock.set(end.plus(Duration.ofDays(2557)).minusNanos(1_000));
        retention.run();
        assertThat(database.totals()).containsExactly("day");
        clock.set(end.plus(Duration.ofDays(2557)));
        retention.run();
        assertThat(database.totals()).isEmpty();
    }

    @Test
    void manyRowsOfAMonthAreAllDropped() {
        List<AuditRow> rows = new ArrayList<>();
        for (int i = 0; i < 1_201; i++) {
            rows.add(RetentionTestDatabase.row(in(DECEMBER).plusNanos(i * 1_000L), "many"));
        }
        database.add(rows);
        database.addAudit(in(JANUARY), "kept");

        assertThat(auditDrops(retention(null).run()))
                .extracting(RetentionPlan.Drop::count)
                .containsExactly(1_201L);
        assertThat(database.users()).containsExactly("kept");
    }

    @Test
    void dryRunSaysWhatARunWouldDoAndChangesNothing() {
        database.addAudit(in(DECEMBER), "old");
        database.addAudit(in(JANUARY), "new");
        database.addTotals(in(JANUARY), "minute");
        YearMonth expired = YearMonth.of(2019, 1);
        archive.put(expired, List.of());
        Retention retention = retention(archive);

        RetentionPlan plan = retention.plan();

        assertThat(plan.drops())
                .filteredOn(drop -> drop.count() > 0)
                .containsExactly(
                        new RetentionPlan.Drop(RetainedRows.AUDIT, DECEMBER, 1, "memory"),
                        new RetentionPlan.Drop(RetainedRows.MINUTES, JANUARY, 1, null));
        assertThat(plan.expiredFiles()).extracting(Object::toString).containsExactly("2019-01");
        assertThat(plan.isEmpty()).isFalse();
        assertThat(database.users()).containsExactly("old", "new");
        assertThat(database.totals()).containsExactly("minute");
        assertThat(archive.writes()).isZero();
        assertThat(archive.has(expired)).isTrue();

        RetentionReport report = retention.run();
        assertThat(report.dropped()).containsExactlyElementsOf(plan.drops());
        assertThat(report.deletedArchives()).containsExactly(expired);
    }

    @Test
    void archiveHoldsExactlyTheDroppedRows() {
        List<AuditRow> rows = new ArrayList<>();
        for (int i = 0; i < 4_500; i++) {
            // Several of each moment, so that pages end between them.
            rows.add(RetentionTestDatabase.row(in(DECEMBER).plusSeconds(i / 7), "user" + i));
        }
        database.add(rows);
        rows.sort(AuditRow.BY_KEY);
        database.addAudit(in(JANUARY), "kept");

        retention(archive).run();

        assertThat(archive.rows(DECEMBER)).isEqualTo(rows);
        assertThat(archive.has(JANUARY)).isFalse();
        assertThat(database.users()).containsExactly("kept");
    }

    @Test
    void monthWithoutRowsIsNotArchived() {
        AuditRow row = database.addAudit(in(DECEMBER), "deleted by hand");
        database.jdbc().update("DELETE FROM " + database.table("rate_limit_audit_logs"));

        RetentionReport report = retention(archive).run();

        assertThat(report.failures()).isEmpty();
        assertThat(archive.has(YearMonth.from(row.loggedAt().atZone(UTC)))).isFalse();
        assertThat(retention(archive).plan().drops()).isEmpty();
    }

    /** The process dies: nothing that would come afterwards is done. */
    @ParameterizedTest
    @EnumSource(MemoryArchive.Stage.class)
    void crashLosesNothingAndArchivesNothingTwice(MemoryArchive.Stage fatal) {
        AuditRow first = database.addAudit(in(DECEMBER), "first");
        AuditRow second = database.addAudit(in(DECEMBER).plusSeconds(1), "second");
        archive.hook(step -> {
            if (step == fatal) {
                throw new IllegalStateException("crash");
            }
        });

        Retention retention = retention(archive);

        RetentionReport report = retention.run();

        assertThat(report.failures()).singleElement().asString().contains("2025-12", "crash");
        assertThat(retention.failures()).isEqualTo(report.failures());
        assertThat(auditDrops(report)).isEmpty();
        assertThat(database.users()).containsExactly("first", "second");

        archive.hook(step -> {});
        assertThat(retention.run().failures()).isEmpty();
        assertThat(retention.failures()).isEmpty();
        assertThat(database.users()).isEmpty();
        assertThat(archive.rows(DECEMBER)).containsExactly(first, second);
        assertThat(archive.writes()).isEqualTo(1);
    }

    @Test
    void rowThatComesWhileTheMonthIsArchivedIsNotDroppedBeforeItIsArchived() {
        AuditRow first = database.addAudit(in(DECEMBER), "first");
        AtomicReference<AuditRow> late = new AtomicReference<>();
        archive.hook(step -> {
            // After the archive was compared with the database.
            if (step == MemoryArchive.Stage.AFTER_READ && late.get() == null) {
                late.set(database.addAudit(in(DECEMBER).plusSeconds(9), "late"));
            }
        });

        RetentionReport report = retention(archive).run();

        assertThat(report.failures()).singleElement().asString().contains("2025-12", "the next run archives them");
        assertThat(database.users()).contains("late");

        assertThat(retention(archive).run().failures()).isEmpty();
        assertThat(database.users()).isEmpty();
        assertThat(archive.rows(DECEMBER)).containsExactly(first, late.get());
    }

    @Test
    void rowThatComesAfterTheMonthWasDroppedIsAddedToItsArchive() {
        AuditRow first = database.addAudit(in(DECEMBER), "first");
        AuditRow third = database.addAudit(in(DECEMBER).plusSeconds(2), "third");
        retention(archive).run();

        AuditRow second = database.addAudit(in(DECEMBER).plusSeconds(1), "second");
        database.add(List.of(third));
        retention(archive).run();

        assertThat(archive.rows(DECEMBER)).containsExactly(first, second, third);
        assertThat(database.users()).isEmpty();
    }

    @Test
    void archiveWithAnotherContentStopsTheDrop() {
        AuditRow row = database.addAudit(in(DECEMBER), "alice");
        AuditRow other = database.addAudit(in(JANUARY), "bob");
        clock.set(firstMomentOf(JANUARY.plusMonths(1)).plus(Duration.ofDays(90)));
        database.jdbc()
                .update("UPDATE " + database.table("rate_limit_audit_logs")
                        + " SET user_id = 'eve' WHERE user_id = 'alice'");
        archive.put(DECEMBER, List.of(row));

        RetentionReport report = retention(archive).run();

        assertThat(report.failures())
                .singleElement()
                .asString()
                .contains("audit rows of 2025-12", row.key(), "differs between the database and its archive");
        assertThat(database.users()).containsExactly("eve");
        assertThat(archive.rows(JANUARY)).containsExactly(other);
    }

    @Test
    void oneInstanceWorksAtATime() throws InterruptedException {
        database.addAudit(in(DECEMBER), "old");
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicBoolean held = new AtomicBoolean();
        archive.hook(step -> {
            if (step == MemoryArchive.Stage.BEFORE_WRITE) {
                working.countDown();
                await(goOn);
                held.set(true);
            }
        });
        AtomicReference<RetentionReport> first = new AtomicReference<>();
        Retention one = retention(archive);
        Thread thread = new Thread(() -> first.set(one.run()));
        thread.start();
        await(working);

        RetentionReport second = retention(archive).run();

        assertThat(second.otherInstance()).isTrue();
        assertThat(second.dropped()).isEmpty();
        assertThat(held).isFalse();
        goOn.countDown();
        thread.join();
        assertThat(first.get().otherInstance()).isFalse();
        assertThat(first.get().failures()).isEmpty();
        assertThat(database.users()).isEmpty();
        assertThat(archive.writes()).isEqualTo(1);
    }

    @Test
    void runThatCannotReadTheDatabaseFailsUntilOneCan() {
        database.jdbc().execute("ALTER TABLE " + database.table("rate_limit_metrics") + " RENAME TO hidden_metrics");
        try (Retention retention = retention(null).every(Duration.ofMillis(1))) {
            Awaitility.await().until(() -> !retention.failures().isEmpty());
            assertThat(retention.failures().get(0)).contains("Could not look for old months", "rate_limit_metrics");
            database.jdbc()
                    .execute("ALTER TABLE " + database.table("hidden_metrics") + " RENAME TO rate_limit_metrics");

            Awaitility.await().until(() -> retention.failures().isEmpty());
        }
    }

    static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void folderOfArchivesThatCannotBeReadHidesNothingThatWasDropped() {
        database.addAudit(in(DECEMBER), "old");
        archive.failToList();

        RetentionReport report = retention(archive).run();

        assertThat(auditDrops(report)).hasSize(1);
        assertThat(report.failures()).containsExactly("Could not drop old archives: could not list the archives");
    }

    @Test
    void archivesEndAfterSevenYears() {
        archive.put(YearMonth.of(2019, 2), List.of());
        archive.put(YearMonth.of(2019, 3), List.of());
        archive.put(YearMonth.of(2019, 4), List.of());
        // The end of March and 2557 days.
        Instant end = Instant.parse("2019-04-01T00:00:00Z").plus(Duration.ofDays(2557));

        clock.set(end.minusNanos(1_000));
        assertThat(retention(archive).run().deletedArchives()).containsExactly(YearMonth.of(2019, 2));
        clock.set(end);
        assertThat(retention(archive).run().deletedArchives()).containsExactly(YearMonth.of(2019, 3));
        assertThat(archive.months()).extracting(AuditArchive.Month::month).containsExactly(YearMonth.of(2019, 4));
    }
}
