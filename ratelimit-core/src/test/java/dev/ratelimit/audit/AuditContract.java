package dev.ratelimit.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.audit.report.AuditDecision;
import dev.ratelimit.audit.report.AuditEntry;
import dev.ratelimit.audit.report.AuditEntry.Origin;
import dev.ratelimit.audit.report.AuditQuery;
import dev.ratelimit.audit.report.Reports;
import dev.ratelimit.audit.report.Reports.Granularity;
import dev.ratelimit.audit.report.Reports.Period;
import dev.ratelimit.audit.report.Reports.SubjectTimeline;
import dev.ratelimit.audit.report.Reports.SubjectTotals;
import dev.ratelimit.audit.report.Reports.Totals;
import dev.ratelimit.gate.Subjects;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;

/** The audit trail, totals and reports, on any database. */
abstract class AuditContract {

    private static final Origin ORIGIN = new Origin("server-1", "eu");

    final SettableClock clock = new SettableClock();
    private final List<RequestAudit> opened = new ArrayList<>();

    AuditTestDatabase database;
    RequestAudit audit;

    abstract AuditTestDatabase create();

    @BeforeEach
    void open() {
        database = create();
        audit = instance(settings(AuditMode.DENIED, 10_000));
    }

    @AfterEach
    void close() {
        opened.forEach(RequestAudit::close);
    }

    private static AuditSettings settings(AuditMode mode, int capacity) {
        return settings(mode, capacity, 2);
    }

    private static AuditSettings settings(AuditMode mode, int capacity, int busiest) {
        return new AuditSettings(mode, true, 0.5, ORIGIN, capacity, busiest, new Subjects(64), Duration.ofMinutes(1));
    }

    private RequestAudit instance(AuditSettings settings) {
        RequestAudit one = new RequestAudit(database.open(), settings, clock, CacheUse.NONE);
        opened.add(one);
        return one;
    }

    private List<AuditEntry> entries() {
        audit.flush();
        return audit.reports().entries(AuditQuery.since(Instant.EPOCH, 1_000));
    }

    @Test
    void denialIsWrittenWithEverythingThatIsKnownOfIt() {
        audit.recorded(TestRequests.throttled("alice", "api"));

        AuditEntry entry = entries().get(0);

        assertThat(entry.at()).isEqualTo(clock.instant());
        assertThat(entry.decision()).isEqualTo(AuditDecision.THROTTLED);
        assertThat(entry.requests()).isEqualTo(1);
        assertThat(entry.who()).isEqualTo(new AuditEntry.Sender("alice", "key-1", "192.0.2.1"));
        assertThat(entry.what()).isEqualTo(new AuditEntry.Exchange("GET", "/api/7", 429));
        assertThat(entry.cause())
                .isEqualTo(new AuditEntry.Cause(
                        "rule-of-api", 3, "api", "user:alice", 10, 10, Duration.ofSeconds(42), false));
        assertThat(entry.latency()).isEqualTo(Duration.ofNanos(250_000));
        assertThat(entry.origin()).isEqualTo(ORIGIN);
    }

    @Test
    void retryAfterIsTheOneThatTheClientWasTold() {
        Duration hour = Duration.ofHours(1);
        audit.recorded(TestRequests.telling(hour, TestRequests.throttled("by-rule", "api")));
        audit.recorded(TestRequests.telling(Duration.ZERO, TestRequests.throttled("forever", "api")));
        audit.recorded(
                TestRequests.telling(hour, TestRequests.undecided(Outcome.BLOCKED, false, "account", "192.0.2.3")));

        assertThat(entries())
                .extracting(entry -> entry.who().user(), entry -> entry.cause().retryAfter())
                .containsExactlyInAnyOrder(
                        Tuple.tuple("by-rule", hour), Tuple.tuple("forever", null), Tuple.tuple("account", hour));
    }

    @Test
    void allowedRequestIsWrittenWithTheVersionOfItsRule() {
        audit = instance(settings(AuditMode.ALL, 10_000));
        audit.recorded(TestRequests.allowed("alice", "api"));

        assertThat(entries().get(0).cause())
                .isEqualTo(new AuditEntry.Cause("rule-of-api", 3, "api", "user:alice", 6, 10, null, false));
    }

    @Test
    void everyOutcomeThatIsNotAllowedIsWritten() {
        audit.recorded(TestRequests.allowed("alice", "api"));
        audit.recorded(TestRequests.undecided(Outcome.EXEMPT, true, "boss", "192.0.2.2"));
        audit.recorded(TestRequests.undecided(Outcome.BLOCKED, false, "bob", "192.0.2.3"));
        audit.recorded(TestRequests.undecided(Outcome.UNKNOWN_API_KEY, false, null, "192.0.2.4"));
        audit.recorded(TestRequests.failed("carol", "api", true));
        audit.recorded(TestRequests.failed("carol", "api", false));

        assertThat(entries())
                .extracting(AuditEntry::decision)
                .containsExactlyInAnyOrder(
                        AuditDecision.BLOCKED,
                        AuditDecision.UNKNOWN_API_KEY,
                        AuditDecision.FAILED_OPEN,
                        AuditDecision.FAILED_CLOSED);
        assertThat(audit.reports().entries(AuditQuery.since(Instant.EPOCH, 10).ofUser("bob")))
                .singleElement()
                .satisfies(entry -> assertThat(entry.cause().rule()).isEqualTo("gate-rule"));
    }

    @Test
    void exemptRequestsAreWrittenWhereAllAre() {
        RequestAudit all = instance(settings(AuditMode.ALL, 10_000));
        all.recorded(TestRequests.undecided(Outcome.EXEMPT, true, "boss", "192.0.2.2"));
        all.recorded(TestRequests.undecided(Outcome.EXEMPT, true, "boss", "192.0.2.2"));
        all.flush();

        assertThat(entries())
                .extracting(
                        AuditEntry::decision,
                        AuditEntry::requests,
                        entry -> entry.who().user())
                .containsExactly(tuple(AuditDecision.EXEMPT, 1L, "boss"), tuple(AuditDecision.EXEMPT, 1L, "boss"));
        assertThat(entries().get(0).cause()).isEqualTo(new AuditEntry.Cause(null, null, null, null, 0, 0, null, false));
    }

    @Test
    void namesAndPathsThatADatabaseRefusesAreWrittenEscaped() {
        String nul = "nul\0of a token";
        String surrogates = "lone \ud800 and \udc00, pair \ud83d\ude00";
        String lines = "line\nline";
        String longest = "\ud83d\ude00".repeat(5_000);
        for (String name : List.of(nul, surrogates, lines, longest, "plain")) {
            audit.recorded(TestRequests.of(name, "192.0.2.1", "api", Outcome.THROTTLED, 429, "/" + name));
        }

        assertThat(entries())
                .extracting(entry -> entry.who().user(), entry -> entry.what().endpoint())
                .containsExactlyInAnyOrder(
                        tuple("nul\\u0000of a token", "/nul\\u0000of a token"),
                        tuple(
                                "lone \\ud800 and \\udc00, pair \ud83d\ude00",
                                "/lone \\ud800 and \\udc00, pair \ud83d\ude00"),
                        tuple("line\\u000aline", "/line\\u000aline"),
                        tuple("\ud83d\ude00".repeat(100), "/" + "\ud83d\ude00".repeat(249)),
                        tuple("plain", "/plain"));
        assertThat(audit.reports().entries(AuditQuery.since(Instant.EPOCH, 10).ofUser(nul)))
                .hasSize(1);
        assertThat(total("api")).isEqualTo(5);
        assertThat(audit.dropped() + audit.droppedMinutes()).isZero();
    }

    @Test
    void modeChoosesTheRequests() {
        RequestAudit all = instance(settings(AuditMode.ALL, 10_000));
        RequestAudit off = instance(settings(AuditMode.OFF, 10_000));
        RequestAudit sampled = instance(settings(AuditMode.SAMPLED, 10_000));
        for (int i = 0; i < 400; i++) {
            all.recorded(TestRequests.allowed("all" + i, "api"));
            off.recorded(TestRequests.throttled("off" + i, "api"));
            sampled.recorded(TestRequests.allowed("sampled" + i, "api"));
        }
        List.of(all, off, sampled).forEach(RequestAudit::flush);

        assertThat(of("all")).isEqualTo(400);
        assertThat(of("off")).isZero();
        assertThat(of("sampled")).isBetween(100L, 300L);
    }

    private long of(String prefix) {
        return database.number("SELECT count(*) FROM %srate_limit_audit_logs WHERE user_id LIKE '" + prefix + "%'");
    }

    @Test
    void equalDenialsOfAMomentAreOneRow() {
        for (int i = 0; i < 500; i++) {
            audit.recorded(TestRequests.throttled("alice", "api"));
        }
        audit.recorded(TestRequests.throttled("bob", "api"));

        // One row for each stripe of threads at most, and this is one thread.
        assertThat(entries())
                .extracting(entry -> entry.who().user() + " " + entry.requests())
                .containsExactlyInAnyOrder("alice 500", "bob 1");
    }

    @Test
    void ifTooManyWaitDenialsAreMergedAndAllowedOnesDroppedAndCounted() {
        RequestAudit small = instance(settings(AuditMode.ALL, 100));
        for (int i = 0; i < 300; i++) {
            small.recorded(TestRequests.throttled("user" + i, "api"));
        }
        for (int i = 0; i < 50; i++) {
            small.recorded(TestRequests.allowed("user" + i, "api"));
        }
        assertThat(small.waiting()).isLessThanOrEqualTo(101);
        assertThat(small.dropped()).isEqualTo(50);
        assertThat(small.merged()).isEqualTo(200);

        small.flush();

        assertThat(small.waiting()).isZero();
        assertThat(database.number("SELECT sum(requests) FROM %srate_limit_audit_logs"))
                .isEqualTo(300);
        assertThat(database.count("rate_limit_audit_logs")).isEqualTo(101);
        assertThat(database.number("SELECT requests FROM %srate_limit_audit_logs WHERE user_id IS NULL"))
                .isEqualTo(200);
    }

    @Test
    void clientThatMakesUpPathsAndMethodsGetsOneRowForEachKindOfDenial() {
        for (int i = 0; i < 300; i++) {
            audit.recorded(TestRequests.asking("GET", "/a/" + i, TestRequests.throttled("alice", "api")));
            audit.recorded(TestRequests.asking(
                    "M" + i, "/b/" + i, TestRequests.undecided(Outcome.BLOCKED, false, null, "192.0.2.3")));
            audit.recorded(TestRequests.asking(
                    "GET", "/c/" + i, TestRequests.undecided(Outcome.UNKNOWN_API_KEY, false, null, "192.0.2.3")));
        }

        assertThat(entries())
                .extracting(
                        AuditEntry::decision,
                        AuditEntry::requests,
                        entry -> entry.what().endpoint())
                .containsExactlyInAnyOrder(
                        tuple(AuditDecision.THROTTLED, 300L, "/a/0"),
                        tuple(AuditDecision.BLOCKED, 300L, "/b/0"),
                        tuple(AuditDecision.UNKNOWN_API_KEY, 300L, "/c/0"));
    }

    @Test
    void denialsOfSeveralHandlersAndMethodsAreRowsOfTheirOwn() {
        for (String endpoint : List.of("/games/{id}", "/pay")) {
            for (String method : List.of("GET", "POST")) {
                audit.recorded(TestRequests.asking(
                        method,
                        "/any",
                        TestRequests.of("alice", "192.0.2.1", "api", Outcome.THROTTLED, 429, endpoint)));
            }
        }

        assertThat(entries())
                .extracting(entry -> entry.what().method() + " " + entry.what().endpoint())
                .containsExactlyInAnyOrder("GET /games/{id}", "POST /games/{id}", "GET /pay", "POST /pay");
    }

    @Test
    void rowThatIsWrittenTwiceIsStoredOnce() {
        audit.recorded(TestRequests.throttled("alice", "api"));
        List<AuditEntry> entries = entries();

        database.open().add(entries);
        database.open().add(entries);

        assertThat(database.count("rate_limit_audit_logs")).isEqualTo(1);
    }

    @Test
    void nothingIsLostOrWrittenTwiceIfTheDatabaseFails() {
        audit.flush();
        database.execute("ALTER TABLE %srate_limit_audit_logs RENAME TO hidden_logs");
        audit.recorded(TestRequests.throttled("alice", "api"));
        assertThatThrownBy(audit::flush).isInstanceOf(DataAccessException.class);
        audit.recorded(TestRequests.throttled("bob", "api"));
        assertThatThrownBy(audit::flush).isInstanceOf(DataAccessException.class);
        assertThat(audit.failure()).contains("rate_limit_audit_logs");
        database.execute("ALTER TABLE %shidden_logs RENAME TO rate_limit_audit_logs");

        audit.flush();
        audit.flush();

        assertThat(audit.failure()).isNull();
        assertThat(entries()).extracting(entry -> entry.who().user()).containsExactlyInAnyOrder("alice", "bob");
        assertThat(total("")).isEqualTo(2);
    }

    @Test
    void longOutageKeepsTheTotalsOfAnHourAndCountsTheRest() {
        database.execute("ALTER TABLE %srate_limit_audit_logs RENAME TO hidden_logs");
        database.execute("ALTER TABLE %srate_limit_metrics RENAME TO hidden_metrics");
        for (int minute = 0; minute < 70; minute++) {
            audit.recorded(TestRequests.throttled("alice", "api"));
            assertThatThrownBy(audit::flush).isInstanceOf(DataAccessException.class);
            clock.move(Duration.ofMinutes(1));
        }
        assertThat(audit.droppedMinutes()).as("during the outage").isEqualTo(10);
        database.execute("ALTER TABLE %shidden_logs RENAME TO rate_limit_audit_logs");
        database.execute("ALTER TABLE %shidden_metrics RENAME TO rate_limit_metrics");

        audit.flush();

        assertThat(total("api")).isEqualTo(60);
        assertThat(audit.droppedMinutes()).isEqualTo(10);
        assertThat(database.number("SELECT sum(requests) FROM %srate_limit_audit_logs"))
                .isEqualTo(70);
    }

    @Test
    void auditTrailIsWrittenThoughTotalsFail() {
        audit.flush();
        database.execute("ALTER TABLE %srate_limit_metrics RENAME TO hidden_metrics");
        audit.recorded(TestRequests.throttled("alice", "api"));

        assertThatThrownBy(audit::flush).isInstanceOf(DataAccessException.class);

        assertThat(database.count("rate_limit_audit_logs")).isEqualTo(1);
        assertThat(audit.failure()).contains("rate_limit_metrics");
        database.execute("ALTER TABLE %shidden_metrics RENAME TO rate_limit_metrics");
        audit.flush();
        assertThat(audit.failure()).isNull();
    }

    @Test
    void totalsAreWrittenThoughTheAuditTrailFails() {
        audit.flush();
        database.execute("ALTER TABLE %srate_limit_audit_logs RENAME TO hidden_logs");
        audit.recorded(TestRequests.throttled("alice", "api"));

        assertThatThrownBy(audit::flush).isInstanceOf(DataAccessException.class);

        assertThat(total("api")).isEqualTo(1);
    }

    @Test
    void minuteThatIsWrittenAfterHoursIsInItsHourAndDay() {
        RequestAudit cutOff = instance(settings(AuditMode.DENIED, 10_000));
        Instant start = clock.instant();
        cutOff.recorded(TestRequests.allowed("bob", "api"));
        for (int hour = 0; hour < 10; hour++) {
            audit.recorded(TestRequests.allowed("alice", "api"));
            audit.flush();
            clock.move(Duration.ofHours(1));
        }

        cutOff.flush();

        assertThat(audit.reports().timeline("api", Granularity.HOUR, start, clock.instant()))
                .extracting(period -> period.totals().total())
                .containsExactly(2L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L);
        assertThat(audit.reports().timeline("api", Granularity.DAY, start.truncatedTo(ChronoUnit.DAYS), later(0)))
                .extracting(period -> period.totals().total())
                .containsExactly(11L);
    }

    /** Retention may have dropped the rest of its hour. */
    @Test
    void minuteThatIsADayOldIsDroppedAndCounted() {
        audit.recorded(TestRequests.allowed("alice", "api"));
        clock.move(Duration.ofHours(25));
        audit.recorded(TestRequests.allowed("alice", "api"));
        audit.flush();
        clock.move(Duration.ofHours(25));
        audit.flush();

        assertThat(total("api")).isEqualTo(1);
        assertThat(audit.droppedMinutes()).isEqualTo(1);
    }

    @Test
    void requestsOfASubjectThatGetsItsOwnRowAreNotCountedTwice() {
        RequestAudit none = instance(settings(AuditMode.DENIED, 10_000, 0));
        none.recorded(TestRequests.allowed("alice", "api"));
        none.flush();
        none.recorded(TestRequests.of("alice", "192.0.2.1", "api", Outcome.THROTTLED, 429, "/api/{id}"));
        none.flush();

        assertThat(total("api")).isEqualTo(2);
        assertThat(audit.reports().timeline("api", Granularity.HOUR, clock.instant(), later(1)))
                .extracting(Period::totals)
                .containsExactly(new Totals(2, 1, 1, 0, 0, 0));
    }

    @Test
    void requestsAreCountedOnceThoughTheAnswerToTheirWriteWasLost() {
        AtomicBoolean lost = new AtomicBoolean();
        RequestAudit unlucky = new RequestAudit(
                database.open(target -> new LostAnswers(target, lost)),
                settings(AuditMode.DENIED, 10_000, 0),
                clock,
                CacheUse.NONE);
        opened.add(unlucky);
        for (int i = 0; i < 5; i++) {
            unlucky.recorded(TestRequests.allowed("alice", "api"));
        }
        lost.set(true);
        assertThatThrownBy(unlucky::flush).hasStackTraceContaining("before the answer came");
        assertThat(total("api")).as("committed").isEqualTo(5);
        lost.set(false);

        unlucky.recorded(TestRequests.of("alice", "192.0.2.1", "api", Outcome.THROTTLED, 429, "/api/{id}"));
        unlucky.flush();

        assertThat(total("api")).isEqualTo(6);
        assertThat(sum("hour", "api", "total")).isEqualTo(6);
    }

    @Test
    void rowsAreStoredOnceThoughTheAnswerToTheirWriteWasLost() {
        AtomicBoolean lost = new AtomicBoolean();
        RequestAudit unlucky = new RequestAudit(
                database.open(target -> new LostAnswers(target, lost)),
                settings(AuditMode.DENIED, 10_000),
                clock,
                CacheUse.NONE);
        opened.add(unlucky);
        unlucky.recorded(TestRequests.throttled("alice", "api"));
        unlucky.recorded(TestRequests.throttled("bob", "api"));
        lost.set(true);
        assertThatThrownBy(unlucky::flush).hasStackTraceContaining("before the answer came");
        assertThat(database.count("rate_limit_audit_logs")).as("committed").isEqualTo(2);
        assertThat(unlucky.waiting()).isEqualTo(2);
        lost.set(false);

        unlucky.recorded(TestRequests.throttled("carol", "api"));
        unlucky.flush();

        assertThat(unlucky.waiting()).isZero();
        assertThat(entries())
                .extracting(entry -> entry.who().user())
                .containsExactlyInAnyOrder("alice", "bob", "carol");
    }

    private long sum(String granularity, String limit, String column) {
        return database.number("SELECT coalesce(sum(" + column + "), 0) FROM %srate_limit_metrics WHERE granularity = '"
                + granularity + "' AND resource = '" + limit + "'");
    }

    /** An attack with another name for each request fills the rows of every minute. */
    @Test
    void hourFullOfChangingNamesIsSummedUpExactlyInFewRows() {
        AuditDatabase tables = database.open();
        int names = 500;
        for (int minute = 0; minute < 60; minute++) {
            long start = Micros.of(clock.instant()) + minute * 60_000_000L;
            List<TotalsRow> rows = new ArrayList<>();
            for (int i = 0; i < names; i++) {
                rows.add(minuteRow(start, "name:" + minute + "-" + i, AuditDecision.THROTTLED, 1));
            }
            rows.add(minuteRow(start, "name:stubborn", AuditDecision.THROTTLED, 2));
            rows.add(minuteRow(start, "user:busy", AuditDecision.ALLOWED, 5));
            rows.add(minuteRow(start, "user:idle" + minute, AuditDecision.ALLOWED, 1));
            rows.add(minuteRow(start, "", AuditDecision.ALLOWED, 7));
            tables.setTotals(rows);
        }
        clock.move(Duration.ofMinutes(60));
        audit.flush();

        for (String granularity : List.of("hour", "day")) {
            assertThat(sum(granularity, "login", "throttled")).as(granularity).isEqualTo(60 * (names + 2L));
            assertThat(sum(granularity, "login", "allowed")).as(granularity).isEqualTo(60 * 13L);
            assertThat(sum(granularity, "login", "total")).as(granularity).isEqualTo(60 * (names + 15L));
            assertThat(subjects(granularity)).as(granularity).isEqualTo(MinuteTotals.MOST_SUBJECT_ROWS + 2);
            assertThat(ofSubject(granularity, "name:stubborn")).as(granularity).isEqualTo(120);
            assertThat(ofSubject(granularity, "user:busy")).as(granularity).isEqualTo(300);
        }
        List<Map<String, Object>> before = hoursAndDays();
        audit.flush();
        assertThat(hoursAndDays()).isEqualTo(before);

        // Others were denied more often in a late minute: they take the rows, and nobody is counted twice.
        List<TotalsRow> late = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            late.add(minuteRow(Micros.of(clock.instant()) - 60_000_000L, "late:" + i, AuditDecision.THROTTLED, 3));
        }
        tables.setTotals(late);
        audit.flush();

        for (String granularity : List.of("hour", "day")) {
            assertThat(sum(granularity, "login", "throttled")).as(granularity).isEqualTo(60 * (names + 2L) + 1_500);
            assertThat(sum(granularity, "login", "allowed")).as(granularity).isEqualTo(60 * 13L);
            assertThat(subjects(granularity)).as(granularity).isEqualTo(MinuteTotals.MOST_SUBJECT_ROWS + 2);
            assertThat(ofSubject(granularity, "late:499")).as(granularity).isEqualTo(3);
            assertThat(ofSubject(granularity, "name:stubborn")).as(granularity).isEqualTo(120);
        }
    }

    private static TotalsRow minuteRow(long start, String subject, AuditDecision decision, int requests) {
        Tally tally = new Tally();
        for (int i = 0; i < requests; i++) {
            tally.add(decision, start);
        }
        return new TotalsRow(
                start, Granularity.MINUTE, new TotalsKey("login", subject, "/login"), "eu", "server-1/1", tally, null);
    }

    private long subjects(String granularity) {
        return database.number("SELECT count(*) FROM %srate_limit_metrics WHERE granularity = '" + granularity
                + "' AND user_id <> ''");
    }

    private long ofSubject(String granularity, String subject) {
        return database.number("SELECT sum(total) FROM %srate_limit_metrics WHERE granularity = '" + granularity
                + "' AND user_id = '" + subject + "'");
    }

    private List<Map<String, Object>> hoursAndDays() {
        return database.query("SELECT period_start, granularity, resource, user_id, endpoint, region, total, allowed,"
                + " throttled, last_request_at, length(latency) AS size FROM %srate_limit_metrics"
                + " WHERE granularity <> 'minute'"
                + " ORDER BY period_start, granularity, resource, user_id, endpoint, region");
    }

    @Test
    void hoursStayIfTheirMinutesHaveBeenDropped() {
        audit.recorded(TestRequests.throttled("alice", "api"));
        audit.flush();
        List<Map<String, Object>> before = hoursAndDays();
        database.execute("DELETE FROM %srate_limit_metrics WHERE granularity = 'minute'");

        audit.flush();

        assertThat(before).isNotEmpty();
        assertThat(hoursAndDays()).isEqualTo(before);
    }

    @Test
    void sumsThatFailAreTriedAgainAfterAMinuteAndDelayNoWrite() {
        audit.flush();
        database.refuseHours();
        audit.recorded(TestRequests.throttled("alice", "api"));
        clock.move(Duration.ofMinutes(6));
        writeOnSchedule(5);
        assertThat(audit.sumsFailure()).isNotNull();
        assertThat(audit.failure()).as("of rows that wait in memory").isNull();
        assertThat(total("api")).as("of the minute").isEqualTo(1);
        database.acceptHours();

        audit.recorded(TestRequests.throttled("alice", "api"));
        writeOnSchedule(4);
        assertThat(total("api"))
                .as("totals are written by the fifth write, as ever")
                .isEqualTo(1);
        writeOnSchedule(1);
        assertThat(total("api")).isEqualTo(2);
        assertThat(sum("hour", "api", "total")).as("not tried again").isZero();
        assertThat(audit.sumsFailure()).isNotNull();

        clock.move(Duration.ofSeconds(61));
        writeOnSchedule(5);
        assertThat(sum("hour", "api", "total")).isEqualTo(2);
        assertThat(sum("day", "api", "total")).isEqualTo(2);
        assertThat(audit.sumsFailure()).isNull();
    }

    private void writeOnSchedule(int times) {
        for (int i = 0; i < times; i++) {
            audit.writeOnSchedule();
        }
    }

    private long total(String limit) {
        return database.number("SELECT coalesce(sum(total), 0) FROM %srate_limit_metrics"
                + " WHERE granularity = 'minute' AND resource = '" + limit + "'");
    }

    @Test
    void totalsCountEveryRequestOnceAndOnceForEachLimit() {
        for (int i = 0; i < 7; i++) {
            audit.recorded(TestRequests.allowed("alice", "api"));
        }
        audit.recorded(TestRequests.throttled("alice", "api"));
        audit.recorded(TestRequests.throttled("bob", "login"));
        audit.recorded(TestRequests.undecided(Outcome.EXEMPT, true, "boss", "192.0.2.2"));
        audit.recorded(TestRequests.undecided(Outcome.BLOCKED, false, null, "192.0.2.3"));
        audit.recorded(TestRequests.failed("carol", "api", true));
        audit.flush();

        Reports reports = audit.reports();
        assertThat(reports.timeline(null, Granularity.MINUTE, clock.instant(), later(60)))
                .extracting(Period::start, Period::totals)
                .containsExactly(tuple(clock.instant(), new Totals(12, 7, 2, 1, 1, 1)));
        assertThat(reports.timeline("api", Granularity.MINUTE, clock.instant(), later(60)))
                .extracting(Period::totals)
                .containsExactly(new Totals(9, 7, 1, 0, 0, 1));
        assertThat(reports.mostDenied(clock.instant(), 10))
                .extracting(SubjectTotals::subject, SubjectTotals::limit)
                .containsExactlyInAnyOrder(
                        tuple("user:alice", "api"),
                        tuple("user:bob", "login"),
                        tuple(Subject.ip("192.0.2.3").text(), ""));
    }

    @Test
    void timelinesOfASubjectAreByLimitTheMostDeniedFirst() {
        Instant first = clock.instant();
        for (int i = 0; i < 3; i++) {
            audit.recorded(TestRequests.allowed("alice", "api"));
        }
        audit.recorded(TestRequests.allowed("alice", "api:candidate"));
        audit.recorded(TestRequests.throttled("alicia", "api"));
        clock.move(Duration.ofMinutes(2));
        audit.recorded(TestRequests.throttled("alice", "login"));
        audit.recorded(TestRequests.allowed("alice", "api"));
        audit.flush();

        List<SubjectTimeline> found = audit.reports().timelines("user:alice", Granularity.MINUTE, first, later(60));

        assertThat(found).extracting(SubjectTimeline::limit).containsExactly("login", "api");
        assertThat(found.get(1).periods())
                .extracting(Period::start, Period::totals)
                .containsExactly(
                        tuple(first, new Totals(3, 3, 0, 0, 0, 0)),
                        tuple(first.plus(Duration.ofMinutes(2)), new Totals(1, 1, 0, 0, 0, 0)));
        assertThat(found).extracting(SubjectTimeline::denied).containsExactly(1L, 0L);
        assertThat(audit.reports().timelines("user:ali", Granularity.MINUTE, first, later(60)))
                .as("the beginning of a name")
                .isEmpty();
    }

    /** A plus sign is between the parts. */
    @Test
    void timelinesOfASubjectHaveSubjectsOfSeveralPartsThatBeginWithIt() {
        Instant first = clock.instant();
        Subject eve = Subject.of("name", "eve");
        audit.recorded(TestRequests.throttledLogin(eve.and("ip", "192.0.2.1")));
        audit.recorded(TestRequests.throttledLogin(eve.and("ip", "192.0.2.2")));
        audit.recorded(TestRequests.throttledLogin(eve));
        audit.recorded(TestRequests.throttledLogin(Subject.of("name", "evelyn")));
        audit.flush();

        assertThat(audit.reports().timelines(eve.text(), Granularity.MINUTE, first, later(60)))
                .extracting(SubjectTimeline::limit, SubjectTimeline::total)
                .containsExactly(tuple("login", 3L));
    }

    @Test
    void chargeThatWasGivenBackIsInNoTotalsOfItsLimit() {
        audit.recorded(TestRequests.allowed("alice", "api"));
        audit.recorded(TestRequests.givenBack("alice", "api"));
        audit.flush();

        assertThat(audit.reports().timeline("api", Granularity.MINUTE, clock.instant(), later(60)))
                .extracting(period -> period.totals().total())
                .containsExactly(1L);
        assertThat(audit.reports().timeline(null, Granularity.MINUTE, clock.instant(), later(60)))
                .extracting(period -> period.totals().total())
                .containsExactly(2L);
    }

    @Test
    void totalsNameASenderAsCountsDo() {
        audit.recorded(TestRequests.undecided(Outcome.BLOCKED, false, null, "2001:db8:0:0:0:0:0:7"));
        audit.recorded(TestRequests.undecided(Outcome.BLOCKED, false, null, "2001:db8:0:0:0:0:0:8"));
        audit.flush();

        assertThat(audit.reports().mostDenied(clock.instant(), 10))
                .extracting(SubjectTotals::subject, denied -> denied.totals().blocked())
                .containsExactly(tuple("ip:2001:db8:0:0:0:0:0:0/64", 2L));
    }

    private static Tuple tuple(Object... values) {
        return Tuple.tuple(values);
    }

    private Instant later(long seconds) {
        return clock.instant().plusSeconds(seconds);
    }

    @Test
    void totalsThatAreWrittenAgainReplaceTheEarlierOnes() {
        for (int second = 0; second < 60; second += 10) {
            audit.recorded(TestRequests.allowed("alice", "api"));
            audit.flush();
            audit.flush();
            clock.move(Duration.ofSeconds(10));
        }
        audit.recorded(TestRequests.allowed("alice", "api"));
        audit.flush();

        assertThat(total("api")).isEqualTo(7);
        assertThat(database.query("SELECT total FROM %srate_limit_metrics WHERE granularity = 'minute'"
                        + " AND resource = 'api' ORDER BY period_start"))
                .extracting(row -> ((Number) row.get("total")).longValue())
                .containsExactly(6L, 1L);
    }

    @Test
    void clockThatIsSetBackReplacesNoTotals() {
        audit.recorded(TestRequests.allowed("alice", "api"));
        clock.move(Duration.ofMinutes(2));
        audit.flush();
        clock.move(Duration.ofMinutes(-2));
        audit.recorded(TestRequests.allowed("alice", "api"));
        audit.flush();
        audit.flush();

        assertThat(total("api")).isEqualTo(2);
    }

    @Test
    void onlyDeniedAndBusiestSubjectsHaveTotalsOfTheirOwn() {
        for (int i = 0; i < 50; i++) {
            for (int requests = 0; requests <= i; requests++) {
                audit.recorded(TestRequests.allowed("user" + i, "api"));
            }
            if (i % 20 == 0) {
                audit.flush();
            }
        }
        audit.recorded(TestRequests.throttled("attacker", "api"));
        audit.flush();

        assertThat(total("api")).isEqualTo(50 * 51 / 2 + 1);
        assertThat(audit.reports().busiest(clock.instant(), 100))
                .extracting(SubjectTotals::subject)
                .hasSizeLessThanOrEqualTo(3)
                .contains("user:attacker");
    }

    @Test
    void hoursAndDaysAreSumsOverAllInstances() {
        RequestAudit other = instance(settings(AuditMode.DENIED, 10_000));
        for (int minute = 0; minute < 150; minute++) {
            audit.recorded(TestRequests.allowed("alice", "api"));
            other.recorded(minute % 3 == 0 ? TestRequests.throttled("bob", "api") : TestRequests.allowed("bob", "api"));
            clock.move(Duration.ofMinutes(1));
            if (minute % 10 == 0) {
                audit.flush();
                other.flush();
            }
        }
        other.flush();
        audit.flush();

        Instant day = clock.instant().truncatedTo(ChronoUnit.DAYS);
        assertThat(audit.reports().timeline("api", Granularity.HOUR, day, later(0)))
                .extracting(Period::totals)
                .containsExactly(
                        new Totals(120, 100, 20, 0, 0, 0),
                        new Totals(120, 100, 20, 0, 0, 0),
                        new Totals(60, 50, 10, 0, 0, 0));
        assertThat(audit.reports().timeline(null, Granularity.DAY, day, later(0)))
                .singleElement()
                .satisfies(period -> {
                    assertThat(period.totals()).isEqualTo(new Totals(300, 250, 50, 0, 0, 0));
                    assertThat(period.decisionTime().p99().toNanos()).isBetween(240_000L, 260_000L);
                });
    }

    @Test
    void rowsOfEveryMonthHaveAPlace() {
        for (String moment : List.of(
                "2026-11-30T23:59:59.999999Z",
                "2026-12-31T23:59:59Z",
                "2027-01-01T00:00:00Z",
                "2028-02-29T12:00:00Z",
                "2028-03-01T00:00:00Z")) {
            clock.set(Instant.parse(moment));
            audit.recorded(TestRequests.throttled("alice", "api"));
            audit.flush();
        }

        assertThat(entries())
                .extracting(AuditEntry::at)
                .containsExactly(
                        Instant.parse("2028-03-01T00:00:00Z"),
                        Instant.parse("2028-02-29T12:00:00Z"),
                        Instant.parse("2027-01-01T00:00:00Z"),
                        Instant.parse("2026-12-31T23:59:59Z"),
                        Instant.parse("2026-11-30T23:59:59.999999Z"));
        assertThat(total("api")).isEqualTo(5);
    }

    @Test
    void viewsAnswerTheSameAsReports() {
        clock.set(Instant.now().minusSeconds(90).truncatedTo(ChronoUnit.MINUTES));
        for (int i = 0; i < 5; i++) {
            audit.recorded(TestRequests.allowed("alice", "api"));
        }
        audit.recorded(TestRequests.throttled("alice", "api"));
        audit.recorded(TestRequests.throttled("bob", "api"));
        audit.recorded(TestRequests.throttled("bob", "api"));
        audit.flush();
        Reports reports = audit.reports();
        Instant since = clock.instant().minus(Duration.ofMinutes(30));

        Map<String, Object> status =
                database.query("SELECT * FROM %srate_limit_status").get(0);
        assertThat(status.get("user_id")).isEqualTo("user:alice");
        assertThat(((Number) status.get("requests")).longValue()).isEqualTo(6);
        assertThat(String.valueOf(status.get("last_request_at"))).matches("\\d{4}-\\d\\d-\\d\\d .*");
        assertThat(reports.busiest(since, 1))
                .extracting(SubjectTotals::subject, one -> one.totals().total(), SubjectTotals::minutes)
                .containsExactly(tuple("user:alice", 6L, 1));

        Map<String, Object> violations =
                database.query("SELECT * FROM %srate_limit_violations").get(0);
        assertThat(((Number) violations.get("violations")).longValue()).isEqualTo(3);
        assertThat(((Number) violations.get("users")).longValue()).isEqualTo(2);
        assertThat(((Number) violations.get("average_per_user")).doubleValue()).isEqualTo(1.5);
        assertThat(reports.violations(since)).containsExactly(new Reports.LimitViolations("api", 3, 2, 1.5));

        Map<String, Object> rates =
                database.query("SELECT * FROM %srate_limit_violation_rates").get(0);
        assertThat(((Number) rates.get("violation_percent")).doubleValue()).isEqualTo(37.5);
        assertThat(reports.violationRates(since)).containsExactly(new Reports.ViolationRate("api", 8, 3, 37.5, 3));
    }

    @Test
    void requestsDuringAPenaltyAreDeniedAndNoViolations() {
        audit.recorded(TestRequests.throttled("alice", "api"));
        for (int i = 0; i < 2; i++) {
            audit.recorded(TestRequests.of("alice", "192.0.2.1", "api", Outcome.BLOCKED, 429, null));
        }
        audit.flush();

        Reports.ViolationRate rate =
                audit.reports().violationRates(Instant.EPOCH).get(0);
        assertThat(rate).isEqualTo(new Reports.ViolationRate("api", 3, 1, 33.33, 3));
        assertThat(rate.deniedPercent()).isEqualTo(100);
    }

    @Test
    void requestsWithoutADecisionDoNotCountForItsTime() {
        audit.recorded(TestRequests.throttled("alice", "api"));
        for (int i = 0; i < 20; i++) {
            audit.recorded(TestRequests.undecided(Outcome.EXEMPT, true, "probe", "192.0.2.2"));
        }
        audit.flush();
        Instant now = clock.instant();

        List<Reports.Period> minutes =
                audit.reports().timeline(null, Granularity.MINUTE, now.minus(Duration.ofHours(1)), now.plusSeconds(60));

        assertThat(minutes).hasSize(1);
        assertThat(minutes.get(0).totals().total()).isEqualTo(21);
        assertThat(minutes.get(0).decisionTime().p50().toNanos()).isBetween(240_000L, 260_000L);
    }

    @Test
    void reportsAndViewsHaveEveryLimitButNoTrials() {
        clock.set(Instant.now().minusSeconds(90).truncatedTo(ChronoUnit.MINUTES));
        List<String> live = List.of("a:b", "api:Candidate", "login:name", "quota:day");
        live.forEach(limit -> audit.recorded(TestRequests.throttled("alice", limit)));
        for (String trial : List.of("api:candidate", "api:shadow")) {
            audit.trialDecided(TestRequests.decision("alice", trial, Outcome.THROTTLED));
            audit.trialDecided(TestRequests.decision("alice", trial, Outcome.ALLOWED));
        }
        audit.flush();
        Reports reports = audit.reports();
        Instant since = clock.instant().minus(Duration.ofMinutes(30));

        assertThat(reports.busiest(since, 10))
                .extracting(SubjectTotals::limit)
                .containsExactlyInAnyOrderElementsOf(live);
        assertThat(reports.mostDenied(since, 10))
                .extracting(SubjectTotals::limit)
                .containsExactlyInAnyOrderElementsOf(live);
        assertThat(reports.violations(since))
                .extracting(Reports.LimitViolations::limit)
                .containsExactlyElementsOf(live);
        assertThat(reports.violationRates(since))
                .extracting(Reports.ViolationRate::limit)
                .containsExactlyElementsOf(live);
        assertThat(reports.trialRates(since))
                .containsExactly(
                        new Reports.ViolationRate("api:candidate", 2, 1, 50, 1),
                        new Reports.ViolationRate("api:shadow", 2, 1, 50, 1));
        for (String view : List.of("status", "violations", "violation_rates")) {
            assertThat(database.query("SELECT resource FROM %srate_limit_" + view))
                    .as(view)
                    .extracting(row -> row.get("resource"))
                    .containsExactlyInAnyOrderElementsOf(live);
        }
    }

    @Test
    void entriesAreChosenByEachPartOfAQuery() {
        audit.recorded(TestRequests.throttled("alice", "api"));
        audit.recorded(TestRequests.throttled("bob", "login"));
        audit.flush();
        AuditQuery all = AuditQuery.since(Instant.EPOCH, 10);

        assertThat(users(all.ofUser("alice"))).containsExactly("alice");
        assertThat(users(all.ofSubject("user:bob"))).containsExactly("bob");
        assertThat(users(all.ofLimit("login"))).containsExactly("bob");
        assertThat(users(all.ofAddress("192.0.2.9"))).isEmpty();
        assertThat(users(all.decided(AuditDecision.BLOCKED))).isEmpty();
        assertThat(users(AuditQuery.since(later(1), 10))).isEmpty();
        assertThatThrownBy(() -> AuditQuery.since(Instant.EPOCH, 1_001)).hasMessageContaining("from 1 to 1000");
    }

    @Test
    void addressesOfANetworkAreFound() {
        for (String address : List.of(
                "2001:db8:0:7:0:0:0:1",
                "2001:db8:0:70:0:0:0:1",
                "2001:db8:0:100:0:0:0:1",
                "203.0.113.7",
                "203.0.113.130",
                "20.30.113.7",
                "3.203.0.113")) {
            audit.recorded(TestRequests.undecided(Outcome.BLOCKED, false, address, address));
        }
        audit.flush();

        assertThat(from("2001:db8:0:7::/64")).containsExactly("2001:db8:0:7:0:0:0:1");
        assertThat(from("2001:db8:0:70::1")).containsExactly("2001:db8:0:70:0:0:0:1");
        assertThat(from("2001:db8::/56")).containsExactlyInAnyOrder("2001:db8:0:7:0:0:0:1", "2001:db8:0:70:0:0:0:1");
        assertThat(from("2001:db8:0:40::/58")).containsExactly("2001:db8:0:70:0:0:0:1");
        assertThat(from("203.0.113.0/24")).containsExactlyInAnyOrder("203.0.113.7", "203.0.113.130");
        assertThat(from("203.0.113.128/25")).containsExactly("203.0.113.130");
        assertThat(from("0.0.0.0/0")).hasSize(4);
        assertThat(from("::/0")).hasSize(3);
    }

    private List<String> from(String address) {
        return users(AuditQuery.since(Instant.EPOCH, 10).ofAddress(address));
    }

    @Test
    void subjectsOfSeveralPartsAreFoundByTheFirst() {
        Subject guesses = Subject.of("name", "ann").and("ip", "192.0.2.7");
        audit.recorded(TestRequests.throttledLogin(guesses));
        audit.recorded(TestRequests.throttledLogin(Subject.of("name", "anna")));
        audit.flush();
        AuditQuery all = AuditQuery.since(Instant.EPOCH, 10);

        assertThat(audit.reports().entries(all.ofSubject("name:ann")))
                .extracting(entry -> entry.cause().subject())
                .containsExactly("name:ann+ip:192.0.2.7");
        assertThat(audit.reports().entries(all.ofSubject(guesses.text()))).hasSize(1);
    }

    private List<String> users(AuditQuery query) {
        return audit.reports().entries(query).stream()
                .map(entry -> entry.who().user())
                .toList();
    }
}
