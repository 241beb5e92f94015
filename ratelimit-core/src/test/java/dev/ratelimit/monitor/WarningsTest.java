package dev.ratelimit.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.ratelimit.Decision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.EngineStatus;
import dev.ratelimit.engine.EngineStatus.Cache;
import dev.ratelimit.engine.EngineStatus.Calls;
import dev.ratelimit.engine.EngineStatus.Circuit;
import dev.ratelimit.engine.EngineStatus.Queue;
import dev.ratelimit.engine.EngineStatus.Store;
import dev.ratelimit.monitor.Warning.Kind;
import dev.ratelimit.setting.InvalidSettingException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WarningsTest {

    private static final Store AVAILABLE = new Store(true, Circuit.CLOSED, null, Duration.ZERO, 1, 0);
    private static final Queue EMPTY = new Queue(0, 10_000, 0, 2);

    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong droppedMinutes = new AtomicLong();
    private final AtomicLong penalties = new AtomicLong();
    private final AtomicReference<String> auditFailure = new AtomicReference<>();
    private final AtomicReference<String> sumsFailure = new AtomicReference<>();
    private final AtomicReference<List<String>> retentionFailures = new AtomicReference<>(List.of());
    private final WatchedLimiter watched = new WatchedLimiter(builder -> builder.auditDropped(dropped::get)
            .totalsDropped(droppedMinutes::get)
            .auditFailure(auditFailure::get)
            .sumsFailure(sumsFailure::get)
            .retentionFailures(retentionFailures::get)
            .penalties(() -> Map.of("login", penalties.get()), Duration.ofSeconds(30))
            .logsDenials(false));
    private EngineStatus status = status(AVAILABLE, EMPTY);
    private final Warnings warnings = new Warnings(watched.monitor, () -> status, Thresholds.DEFAULT);

    @AfterEach
    void close() {
        watched.close();
    }

    private static EngineStatus status(Store store, Queue queue) {
        return new EngineStatus(store, queue, new Calls(0, 0, Duration.ZERO), new Cache(0, 0, 0), new Cache(0, 0, 0));
    }

    private List<Kind> kinds() {
        return warnings.current().stream().map(Warning::kind).toList();
    }

    @Test
    void ordinaryTrafficGivesNoWarning() {
        for (int i = 0; i < 200; i++) {
            watched.limiter.decide(Subject.user("user" + i), "api");
        }
        watched.exceed("one client that misbehaves", 90);

        assertThat(warnings.current()).isEmpty();
    }

    @Test
    void anUnavailableStoreIsNamedWithItsReason() {
        status = status(
                new Store(false, Circuit.OPEN, "connection refused\nFORGED", Duration.ofSeconds(42), 1, 1), EMPTY);

        assertThat(warnings.current())
                .containsExactly(
                        new Warning(
                                Kind.STORE_FAILING,
                                null,
                                null,
                                "The store has been unavailable for 42 s, and on-failure decides: connection refused\\u000aFORGED"));
    }

    @Test
    void undecidedRequestsAreAShareOfAll() {
        decideAllButTheStoreFailsFor(1, 150);
        assertThat(kinds()).isEmpty();

        decideAllButTheStoreFailsFor(2, 50);
        assertThat(warnings.current())
                .extracting(Warning::sentence)
                .containsExactly("The store did not decide 3 of 203 requests in the last 5 minutes.");

        watched.move(Duration.ofMinutes(7));
        assertThat(kinds()).isEmpty();
    }

    private void decideAllButTheStoreFailsFor(int failed, int decided) {
        LimitRequest request = LimitRequest.of(Subject.user("alice"), "api");
        for (int i = 0; i < failed + decided; i++) {
            Throwable failure = i < failed ? new IllegalStateException("down") : null;
            watched.monitor.recorded(
                    RequestRecord.of(request, Decision.of(0, List.of(), Duration.ZERO, failure), Duration.ZERO));
        }
    }

    @Test
    void aQueueThatIsHalfFullIsFilling() {
        status = status(AVAILABLE, new Queue(4_999, 10_000, 2, 2));
        assertThat(kinds()).isEmpty();

        status = status(AVAILABLE, new Queue(5_000, 10_000, 2, 2));
        assertThat(warnings.current())
                .extracting(Warning::sentence)
                .containsExactly("5000 requests wait for the store; at most 10000 may.");
    }

    @Test
    void lostAuditEntriesAreAWarningForFiveMinutes() {
        watched.tick();
        dropped.set(12);
        watched.tick();
        watched.tick();
        assertThat(warnings.current())
                .extracting(Warning::sentence)
                .containsExactly("The audit trail lost or merged 12 entries in the last 5 minutes.");

        watched.move(Duration.ofMinutes(6));
        watched.tick();
        assertThat(kinds()).isEmpty();
    }

    @Test
    void lostTotalsAreAWarningForFiveMinutes() {
        watched.tick();
        droppedMinutes.set(1);
        watched.tick();
        watched.tick();
        assertThat(warnings.current())
                .extracting(Warning::kind, Warning::sentence)
                .containsExactly(tuple(Kind.AUDIT_DROPPING, "The totals of 1 minute were lost in the last 5 minutes."));

        watched.move(Duration.ofMinutes(6));
        watched.tick();
        assertThat(kinds()).isEmpty();
    }

    @Test
    void anAuditTrailThatCannotBeWrittenIsAWarningUntilItCan() {
        auditFailure.set("the disk is full\nDROP");
        assertThat(warnings.current())
                .extracting(Warning::kind, Warning::sentence)
                .containsExactly(
                        tuple(
                                Kind.AUDIT_FAILING,
                                "The audit trail or totals cannot be written, and wait in memory: the disk is full\\u000aDROP"));

        auditFailure.set(null);
        assertThat(kinds()).isEmpty();
    }

    @Test
    void totalsThatCannotBeSummedUpAreAWarningThatNothingWaits() {
        sumsFailure.set("canceling statement due to user request");
        assertThat(warnings.current())
                .extracting(Warning::kind, Warning::sentence)
                .containsExactly(tuple(
                        Kind.TOTALS_FAILING,
                        "Totals of minutes are written, but cannot be summed up to hours and days: canceling statement due to"
                                + " user request"));

        sumsFailure.set(null);
        assertThat(kinds()).isEmpty();
    }

    @Test
    void eachMonthThatCannotBeDroppedIsAWarning() {
        retentionFailures.set(List.of("Could not drop 2025-11: full", "Could not drop 2025-12: full"));

        assertThat(warnings.current())
                .extracting(Warning::kind, Warning::sentence)
                .containsExactly(
                        tuple(Kind.RETENTION_FAILING, "Could not drop 2025-11: full"),
                        tuple(Kind.RETENTION_FAILING, "Could not drop 2025-12: full"));
    }

    @Test
    void usersAreHurtIfARuleDeniesMuchToMany() {
        for (int i = 0; i < 20; i++) {
            watched.exceed("user" + i, 2);
        }

        assertThat(warnings.current()).singleElement().satisfies(warning -> {
            assertThat(warning.kind()).isEqualTo(Kind.USERS_HURT);
            assertThat(warning.limit()).isEqualTo("api");
            assertThat(warning.rule()).isEqualTo("reads");
            assertThat(warning.sentence())
                    .matches("Limit api denied 28 % of the requests of rule reads in the last 5 minutes, to about"
                            + " (19|20|21) subjects: it may be too tight for ordinary users.");
        });
    }

    @Test
    void oneBadClientOfARuleIsNotTheSubjectsOfAnotherRule() {
        for (int i = 0; i < 200; i++) {
            watched.limiter.decide(
                    LimitRequest.of(Subject.user("bad client"), "api").rule("writes"));
        }
        for (int i = 0; i < 20; i++) {
            watched.exceed("user" + i, 1);
            for (int other = 0; other < 10; other++) {
                watched.limiter.decide(LimitRequest.of(Subject.user("quiet" + i + "-" + other), "api")
                        .rule("reads"));
            }
        }

        assertThat(kinds()).doesNotContain(Kind.USERS_HURT);
    }

    @Test
    void manyOffendersAreCountedBySubject() {
        for (int i = 0; i < 130; i++) {
            watched.exceed("user" + i, 1);
        }
        assertThat(kinds()).contains(Kind.MANY_OFFENDERS);

        watched.move(Duration.ofMinutes(1));
        assertThat(kinds()).doesNotContain(Kind.MANY_OFFENDERS);
    }

    @Test
    void aSurgeIsMoreThanBefore() {
        watched.exceed("alice", 100);
        assertThat(warnings.current())
                .extracting(Warning::sentence)
                .containsExactly(
                        "Limit api was exceeded 100 times in the last 5 minutes; in the hour before, 0 times in 5"
                                + " minutes on average.");

        watched.move(Duration.ofMinutes(6));
        assertThat(kinds()).isEmpty();
    }

    @Test
    void asManyViolationsAsBeforeAreNoSurge() {
        for (int minute = 0; minute < 66; minute++) {
            watched.exceed("alice", 40);
            watched.move(Duration.ofMinutes(1));
        }
        assertThat(kinds()).doesNotContain(Kind.VIOLATION_SURGE);

        watched.exceed("alice", 1_000);
        assertThat(kinds()).contains(Kind.VIOLATION_SURGE);
    }

    @Test
    void penaltiesThatRiseWithinAnHourAreAWarning() {
        penalties.set(10);
        watched.tick();
        penalties.set(29);
        watched.move(Duration.ofMinutes(30));
        watched.tick();
        assertThat(kinds()).isEmpty();

        penalties.set(30);
        watched.move(Duration.ofMinutes(1));
        watched.tick();
        assertThat(warnings.current())
                .extracting(Warning::sentence)
                .containsExactly("30 penalties are active; an hour ago, 10 were.");

        watched.move(Duration.ofMinutes(30));
        watched.tick();
        assertThat(kinds()).isEmpty();
    }

    @Test
    void theMostUrgentComesFirst() {
        watched.exceed("alice", 100);
        status = status(new Store(false, Circuit.OPEN, "down", Duration.ZERO, 1, 1), new Queue(10, 10, 1, 1));

        assertThat(kinds()).containsExactly(Kind.STORE_FAILING, Kind.QUEUE_FILLING, Kind.VIOLATION_SURGE);
    }

    @Test
    void invalidThresholdsAreRefusedWithTheRemedy() {
        assertThatExceptionOfType(InvalidSettingException.class)
                .isThrownBy(() -> new Thresholds(1, 100, 20, 100, 20, 10, 1, 50))
                .withMessageContaining("rise-factor is 1; write a whole number from 2 to 1000, such as 3");
    }
}
