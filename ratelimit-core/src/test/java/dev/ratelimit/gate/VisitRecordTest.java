package dev.ratelimit.gate;

import static dev.ratelimit.gate.TestGate.TOOK;
import static dev.ratelimit.gate.TestGate.byAddress;
import static dev.ratelimit.gate.TestGate.byUser;
import static dev.ratelimit.gate.TestGate.keyOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Penalties;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.RequestRecord.Asked;
import dev.ratelimit.RequestRecord.Exchange;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.gate.Gate.Mode;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.web.util.pattern.PathPatternParser;

/** The record of a request, for every outcome. */
class VisitRecordTest {

    private static final Identity ALICE = new Identity("alice", Set.of("ROLE_PREMIUM"));

    private final TestGate gate = new TestGate();

    private RequestRecord record(Visit visit, Identity who, int status) {
        gate.walk(visit, who);
        return visit.completed(status, "/api/{id}");
    }

    private static List<String> limits(RequestRecord record) {
        return record.asked().stream()
                .flatMap(one -> one.request().items().stream())
                .map(item -> item.limitName() + " for " + item.rule())
                .toList();
    }

    @Test
    void allowed() {
        gate.rule(byAddress("flood")).rule(byUser("fair").limits("tiered"));
        Instant arrived = gate.clock.instant();
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api/7", gate.presenting(keyOf("olga"))));
        gate.clock.move(Duration.ofSeconds(5));

        RequestRecord record = record(visit, ALICE, 200);

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(record.allowed()).isTrue();
        assertThat(record.rule()).as("both have as much room").isEqualTo("flood");
        assertThat(record.ruleVersion()).as("it is configured").isNull();
        assertThat(record.retryAfter()).isZero();
        assertThat(limits(record)).containsExactly("address for flood", "tiered for fair");
        assertThat(record.exchange())
                .isEqualTo(new Exchange("GET", "/api/7", "/api/{id}", 200, "192.0.2.1", "alice", "key-1", "premium"));
        assertThat(record.at()).isEqualTo(arrived);
        assertThat(record.took()).isEqualTo(TOOK.multipliedBy(2));
        assertThat(record.decidedLocally()).isFalse();
    }

    @Test
    void ruleOfAnAllowedRequestIsTheOneWithTheLeastRoom() {
        gate.rule(byAddress("flood")).rule(byUser("fair"));
        gate.versions.put("fair", 3);
        gate.nearlyUsedUp.add("user");

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 200);

        assertThat(record.rule()).isEqualTo("fair");
        assertThat(record.ruleVersion()).isEqualTo(3);
        assertThat(record.tightest().limit().name()).isEqualTo("user");
    }

    @Test
    void chargeThatWasGivenBackIsNoneOfTheRecord() {
        gate.rule(byAddress("flood")).rule(byUser("fair"));
        gate.usedUp.add("user");
        Visit visit = gate.visit(Mode.CHARGE, "/api/7");
        gate.walk(visit, ALICE);

        visit.givenBack(gate.asks.get(0).limits());
        RequestRecord record = visit.completed(429, null);

        assertThat(limits(record)).containsExactly("address for flood", "user for fair");
        assertThat(record.asked()).extracting(Asked::givenBack).containsExactly(true, false);
        assertThat(record.asked()).extracting(Asked::isCharged).containsExactly(false, false);
        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.took()).isEqualTo(TOOK.multipliedBy(2));
    }

    @Test
    void limitsThatAreSwitchedOffAreNotInTheRecord() {
        Visit visit = gate.visit(Mode.CHARGE, "/api/7");
        gate.walk(visit, ALICE);
        Decision nothing = Decision.of(0, List.of(), Duration.ZERO, null);

        visit.add(LimitRequest.of(Subject.user("alice"), "off"), nothing, TOOK);

        assertThat(visit.decisions()).isEmpty();
        assertThat(visit.completed(200, null).asked()).isEmpty();
    }

    @Test
    void allowedWithoutARule() {
        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), Identity.NOBODY, 404);

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(record.allowed()).isTrue();
        assertThat(record.asked()).isEmpty();
        assertThat(record.rule()).isNull();
        assertThat(record.tightest()).isNull();
        assertThat(record.took()).isEqualTo(Duration.ZERO);
        assertThat(record.exchange())
                .isEqualTo(new Exchange("GET", "/api/7", "/api/{id}", 404, "192.0.2.1", null, null, null));
    }

    @Test
    void throttledOnArrival() {
        gate.rule(byAddress("flood")).rule(byUser("fair"));
        gate.usedUp.add("address");
        gate.versions.put("fair", 3);

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 429);

        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isEqualTo("flood");
        assertThat(record.ruleVersion()).as("it is configured").isNull();
        assertThat(limits(record)).containsExactly("address for flood");
        assertThat(record.exchange().user())
                .as("authentication was not reached")
                .isNull();
    }

    @Test
    void throttledAfterIdentification() {
        gate.rule(byAddress("flood")).rule(byUser("fair"));
        gate.usedUp.add("user");
        gate.versions.put("fair", 3);

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 429);

        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.rule()).isEqualTo("fair");
        assertThat(record.ruleVersion()).isEqualTo(3);
        assertThat(limits(record)).containsExactly("address for flood", "user for fair");
        assertThat(record.exchange().user()).isEqualTo("alice");
        assertThat(record.exchange().tier()).isEqualTo("premium");
    }

    @Test
    void underAPenalty() {
        gate.rule(byUser("fair"));
        gate.underPenalty.add("user");

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 429);

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isEqualTo("fair");
        assertThat(record.retryAfter()).isEqualTo(Duration.ofSeconds(600));
        assertThat(record.asked().get(0).decision().penaltyUntil())
                .isEqualTo(gate.clock.instant().plusSeconds(600));
    }

    @Test
    void clientUnderAPenaltyWithoutAnEndIsNotToldToWait() {
        gate.rule(byUser("fair"));
        gate.underPenalty.add("user");
        gate.penalty = Penalties.FOREVER;

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 429);

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.retryAfter()).isZero();
        assertThat(record.asked().get(0).decision().retryAfterSeconds()).isZero();
    }

    @Test
    void retryAfterOfTheRuleIsToldIfItIsLonger() {
        gate.rule(byUser("fair").response(new Rule.Response(null, null, Duration.ofMinutes(5))));
        gate.usedUp.add("user");

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 429);

        assertThat(record.retryAfter()).isEqualTo(Duration.ofMinutes(5));
        assertThat(record.asked().get(0).decision().retryAfterSeconds()).isEqualTo(60);
    }

    @Test
    void blockedByARule() {
        gate.rule(byAddress("flood").priority(1))
                .rule(Rule.named("closed").action(Action.BLOCK).tiers("premium"));

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 403);

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isEqualTo("closed");
        assertThat(limits(record)).containsExactly("address for flood");
        assertThat(record.exchange().tier()).isEqualTo("premium");
    }

    @Test
    void blockedAccount() {
        gate.rule(byUser("fair")).blocking("olga", Duration.ofDays(1));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api/7", gate.presenting(keyOf("olga"))));

        RequestRecord record = record(visit, Identity.NOBODY, 403);

        assertThat(record.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isNull();
        assertThat(record.asked()).isEmpty();
        assertThat(record.retryAfter()).isEqualTo(Duration.ofDays(1));
        assertThat(record.exchange().user()).isEqualTo("olga");
        assertThat(record.exchange().apiKey()).isEqualTo("key-1");
    }

    @Test
    void exempt() {
        gate.rule(byAddress("flood"))
                .exempting(new Exemptions(
                        Set.of(), List.of(), List.of(), List.of("/api/**"), PathPatternParser.defaultInstance));

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 200);

        assertThat(record.outcome()).isEqualTo(Outcome.EXEMPT);
        assertThat(record.allowed()).isTrue();
        assertThat(record.asked()).isEmpty();
        assertThat(record.exchange().user()).isEqualTo("alice");
    }

    @Test
    void exemptAfterTheAddressWasCharged() {
        gate.rule(byAddress("flood"))
                .exempting(new Exemptions(
                        Set.of("ROLE_PREMIUM"), List.of(), List.of(), List.of(), PathPatternParser.defaultInstance));

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 200);

        assertThat(record.outcome()).isEqualTo(Outcome.EXEMPT);
        assertThat(limits(record)).containsExactly("address for flood");
    }

    @Test
    void unknownKey() {
        gate.rule(byAddress("flood"));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api/7", gate.presenting(null)));

        RequestRecord record = record(visit, ALICE, 401);

        assertThat(record.outcome()).isEqualTo(Outcome.UNKNOWN_API_KEY);
        assertThat(record.allowed()).isFalse();
        assertThat(record.rule()).isNull();
        assertThat(limits(record)).containsExactly("guesses for null");
        assertThat(record.exchange())
                .isEqualTo(new Exchange("GET", "/api/7", "/api/{id}", 401, "192.0.2.1", null, null, null));
    }

    @Test
    void guessBeyondTheLimitShowsTheLimitAlsoIfItWasRemembered() {
        gate.usedUp.add("guesses");
        RequestRecord asked =
                record(gate.visit(Mode.CHARGE, gate.arrival("/api/7", gate.presenting(null))), ALICE, 429);
        gate.remembered = gate.answer(LimitRequest.of(Subject.ip("192.0.2.1"), ApiKeys.guessing("guesses", 3)));
        RequestRecord remembered =
                record(gate.visit(Mode.CHARGE, gate.arrival("/api/7", gate.presenting(null))), ALICE, 429);

        for (RequestRecord record : List.of(asked, remembered)) {
            assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
            assertThat(record.allowed()).isFalse();
            assertThat(limits(record)).containsExactly("guesses for null");
            assertThat(record.asked().get(0).decision().retryAfter()).isEqualTo(Duration.ofMinutes(1));
        }
        assertThat(gate.lookups).isEqualTo(1);
    }

    @Test
    void failedOpen() {
        gate.rule(byAddress("flood").onFailure(FailurePolicy.OPEN));
        gate.storeFails = true;

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 200);

        assertThat(record.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(record.allowed()).isTrue();
        assertThat(limits(record)).containsExactly("address for flood");
        assertThat(record.decidedLocally()).isFalse();
    }

    @Test
    void failedClosed() {
        gate.rule(byAddress("flood").onFailure(FailurePolicy.CLOSED));
        gate.storeFails = true;

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 503);

        assertThat(record.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(record.allowed()).isFalse();
        assertThat(limits(record)).containsExactly("address for flood");
    }

    @Test
    void failedOpenThenThrottled() {
        gate.rule(byAddress("flood").onFailure(FailurePolicy.OPEN)).rule(byUser("fair"));
        Visit visit = gate.visit(Mode.CHARGE, "/api/7");
        gate.storeFails = true;
        gate.follow(visit, visit.arrive());
        gate.storeFails = false;
        gate.usedUp.add("user");
        gate.follow(visit, visit.identified(ALICE));

        RequestRecord record = visit.completed(429, null);

        assertThat(record.outcome()).as("the outcome is that of the rejection").isEqualTo(Outcome.THROTTLED);
        assertThat(record.allowed()).isFalse();
    }

    @Test
    void decidedLocally() {
        gate.rule(byAddress("flood"));
        gate.storeFails = true;

        RequestRecord record = record(gate.visit(Mode.CHARGE, "/api/7"), ALICE, 200);

        assertThat(record.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(record.allowed()).isTrue();
        assertThat(record.decidedLocally()).isTrue();
    }

    // @RateLimited

    @Test
    void denialOfAMethodIsPartOfTheRecord() {
        gate.rule(byAddress("flood"));
        Visit visit = gate.visit(Mode.CHARGE, "/api/7");
        gate.walk(visit, ALICE);
        Decision denied = deniedMethod(visit);
        visit.denied(denied);

        RequestRecord record = visit.completed(429, "/api/{id}");

        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.allowed()).isFalse();
        assertThat(record.asked()).extracting(Asked::decision).hasSize(2).endsWith(denied);
        assertThat(record.took()).isEqualTo(TOOK.multipliedBy(2));
    }

    /** An application may catch the exception and answer in another way. */
    @Test
    void denialThatTheApplicationHandledIsStillADenial() {
        Visit visit = gate.visit(Mode.CHARGE, "/api/7");
        gate.walk(visit, ALICE);
        deniedMethod(visit);

        RequestRecord record = visit.completed(200, "/api/{id}");

        assertThat(record.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(record.allowed()).isFalse();
    }

    private Decision deniedMethod(Visit visit) {
        gate.usedUp.add("method");
        LimitRequest request = LimitRequest.of(Subject.user("alice"), ApiKeys.guessing("method", 1))
                .recordedByCaller();
        Decision denied = gate.answer(request);
        visit.add(request, denied, TOOK);
        return denied;
    }

    @Test
    void trialAloneIsNoDecision() {
        gate.rule(byAddress("flood").priority(1)).rule(byUser("trial").action(Action.SHADOW));
        Visit visit = gate.visit(Mode.CHARGE, "/api/7");

        RequestRecord record = record(visit, ALICE, 200);

        assertThat(gate.asks).hasSize(2);
        assertThat(limits(record)).containsExactly("address for flood");
        assertThat(record.asked()).hasSize(1);
        assertThat(visit.decisions()).hasSize(1);
    }

    @Test
    void blankNameIsNobody() {
        gate.rule(byUser("fair").limits("quota"));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api/7", gate.presenting(keyOf("olga"))));

        RequestRecord record = record(visit, new Identity(" ", Set.of()), 200);

        assertThat(record.exchange().user()).isEqualTo("olga");
        assertThat(gate.askedAt(0)).allMatch(asked -> asked.endsWith(" of user:olga"));
    }

    @Test
    void recordedPathHasNoParameters() {
        Visit visit = gate.visit(Mode.CHARGE, "/api/7;jsessionid=SECRET");

        assertThat(record(visit, Identity.NOBODY, 200).exchange().path()).isEqualTo("/api/7");
    }

    @Test
    void recordOfARequestWithoutAnAddress() {
        gate.rule(byAddress("flood"));
        Arrival plain = gate.arrival("/api/7", null);
        Visit visit = gate.visit(
                Mode.CHARGE, new Arrival("POST", false, PathReadings.of("/api/7"), null, null, plain.live()));

        RequestRecord record = record(visit, Identity.NOBODY, 200);

        assertThat(record.exchange().address()).isNull();
        assertThat(record.exchange().method()).isEqualTo("POST");
        assertThat(gate.askedAt(0)).containsExactly("address of ip:unknown");
    }

    @Test
    void decisionsOfManyThreadsAreAllKept() throws Exception {
        Visit visit = gate.visit(Mode.CHARGE, "/api/7");
        gate.walk(visit, ALICE);
        int threads = 4;
        int each = 2_000;
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        LimitRequest request = LimitRequest.of(Subject.user("alice"), ApiKeys.guessing("method", 1));
        Decision allowed = gate.answer(request);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                for (int j = 0; j < each; j++) {
                    visit.add(request, allowed, TOOK);
                }
            });
            thread.start();
            all.add(thread);
        }
        start.countDown();
        for (Thread thread : all) {
            thread.join();
        }

        assertThat(visit.completed(200, null).asked()).hasSize(threads * each);
    }
}
