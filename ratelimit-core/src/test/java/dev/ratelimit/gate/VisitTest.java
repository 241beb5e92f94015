package dev.ratelimit.gate;

import static dev.ratelimit.gate.TestGate.ADDRESS;
import static dev.ratelimit.gate.TestGate.byAddress;
import static dev.ratelimit.gate.TestGate.byUser;
import static dev.ratelimit.gate.TestGate.keyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.ApiKeys;
import dev.ratelimit.gate.Gate.Mode;
import dev.ratelimit.gate.Rejection.Reason;
import dev.ratelimit.policy.Action;
import dev.ratelimit.policy.AddressRange;
import dev.ratelimit.policy.PathReadings;
import dev.ratelimit.policy.Rule;
import dev.ratelimit.policy.Rule.Response;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.web.util.pattern.PathPatternParser;

/** The instructions of a visit, without a limiter: what is asked when, and what follows from the answers. */
class VisitTest {

    private static final Identity ALICE = new Identity("alice", Set.of());
    private static final Identity BOSS = new Identity("boss", Set.of("ROLE_BOSS"));
    private static final Instruction.Pass AT_ONCE = new Instruction.Pass(Duration.ZERO);

    private static Exemptions exempting(Set<String> authorities, List<String> addresses, List<String> paths) {
        return new Exemptions(
                authorities,
                addresses.stream().map(AddressRange::parse).toList(),
                List.of(),
                paths,
                PathPatternParser.defaultInstance);
    }

    private static Rule.Builder blocking(String name) {
        return Rule.named(name).action(Action.BLOCK);
    }

    private static Rejection rejected(Instruction next) {
        assertThat(next).isInstanceOf(Instruction.Reject.class);
        return ((Instruction.Reject) next).rejection();
    }

    private static boolean givesBack(Instruction next) {
        assertThat(next).isInstanceOf(Instruction.Reject.class);
        return ((Instruction.Reject) next).giveBack();
    }

    @Test
    void addressIsAskedOnArrivalAndUserOnceKnown() {
        TestGate gate = new TestGate().rule(byAddress("flood")).rule(byUser("fair"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        assertThat(gate.follow(visit, visit.arrive())).isEqualTo(AT_ONCE);
        assertThat(gate.asks).hasSize(1);
        assertThat(gate.askedAt(0)).containsExactly("address of ip:192.0.2.1");

        assertThat(gate.follow(visit, visit.identified(ALICE))).isEqualTo(AT_ONCE);
        assertThat(gate.asks).hasSize(2);
        assertThat(gate.askedAt(1)).containsExactly("user of user:alice");
        assertThat(visit.rejection()).isNull();
        assertThat(visit.decisions()).hasSize(2);
    }

    @Test
    void nothingIsAskedWhereNoRuleApplies() {
        TestGate gate = new TestGate().rule(byAddress("flood").path("/api/**"));
        Visit visit = gate.visit(Mode.CHARGE, "/pages");

        assertThat(gate.walk(visit, ALICE)).isEqualTo(AT_ONCE);
        assertThat(gate.asks).isEmpty();
        assertThat(visit.isExempt()).isFalse();
    }

    @Test
    void requestWaitsForItsTurnAsLongAsTheDecisionSays() {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");
        Instruction.Ask ask = (Instruction.Ask) visit.arrive();
        Decision plain = gate.answer(ask.limits());
        var only = plain.limits().get(0);
        Decision delayed = Decision.of(
                plain.atMicros(),
                List.of(new LimitDecision(
                        only.subject(),
                        only.limit(),
                        only.rule(),
                        Outcome.ALLOWED,
                        0,
                        only.resetAtMicros(),
                        Duration.ofMillis(250),
                        null,
                        0,
                        false)),
                Duration.ZERO,
                null);

        assertThat(visit.answered(delayed, TestGate.TOOK)).isEqualTo(new Instruction.Pass(Duration.ofMillis(250)));
    }

    @Test
    void answerWithoutAQuestionIsAMistake() {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");
        Instruction.Ask ask = (Instruction.Ask) visit.arrive();
        Decision decision = gate.answer(ask.limits());
        visit.answered(decision, TestGate.TOOK);

        assertThatThrownBy(() -> visit.answered(decision, TestGate.TOOK)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void visitStaysWithThePolicyOfItsArrival() {
        TestGate before = new TestGate().rule(byAddress("flood")).rule(byUser("fair"));
        TestGate after = new TestGate().rule(byUser("other").limits("other"));
        var inForce = new AtomicReference<>(before.gate().policies.current());
        Gate gate = new Gate(inForce::get, user -> null, Exemptions.NONE, new Subjects(64), null, before.clock);
        Visit visit = gate.visit(before.arrival("/api", null), Mode.CHARGE);
        before.follow(visit, visit.arrive());

        inForce.set(after.gate().policies.current());
        before.follow(visit, visit.identified(ALICE));

        assertThat(before.askedAt(1)).containsExactly("user of user:alice");
    }

    // exemptions

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"CHARGE", "PEEK"})
    void exemptPathPassesUnasked(Mode mode) {
        TestGate gate = new TestGate()
                .rule(byAddress("flood"))
                .rule(byUser("fair"))
                .exempting(exempting(Set.of(), List.of(), List.of("/health/**")));
        Visit visit = gate.visit(mode, gate.arrival("/health/live", gate.presenting(null)));

        assertThat(gate.walk(visit, ALICE)).isEqualTo(AT_ONCE);
        assertThat(gate.asks).isEmpty();
        assertThat(gate.lookups).isZero();
        assertThat(visit.isExempt()).isTrue();
        assertThat(visit.rejection()).isNull();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void pathIsExemptOnlyInAllItsReadings(Mode mode) {
        TestGate gate = new TestGate()
                .rule(byAddress("flood").path("/pay"))
                .exempting(exempting(Set.of(), List.of(), List.of("/health/**")));
        Visit visit = gate.visit(mode, "/health/../pay");

        gate.walk(visit, ALICE);

        assertThat(visit.isExempt()).isFalse();
        assertThat(gate.asks).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void exemptAddressPasses(Mode mode) {
        TestGate gate = new TestGate()
                .rule(byAddress("flood"))
                .exempting(exempting(Set.of(), List.of("192.0.2.0/24"), List.of()));
        gate.usedUp.add("address");
        Visit visit = gate.visit(mode, "/api");

        assertThat(gate.walk(visit, ALICE)).isEqualTo(AT_ONCE);
        assertThat(visit.isExempt()).isTrue();
        assertThat(visit.rejection()).isNull();
        assertThat(visit.completed(200, null).outcome()).isEqualTo(Outcome.EXEMPT);
        assertThat(gate.asks).hasSize(mode == Mode.EXPLAIN ? 1 : 0);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void exemptAuthorityPassesTheRulesOfUsers(Mode mode) {
        TestGate gate = new TestGate()
                .rule(byUser("fair"))
                .blocking("boss", Duration.ofDays(1))
                .exempting(exempting(Set.of("ROLE_BOSS"), List.of(), List.of()));
        gate.usedUp.add("user");
        Visit visit = gate.visit(mode, "/api");

        assertThat(gate.walk(visit, BOSS)).isEqualTo(AT_ONCE);
        assertThat(visit.isExempt()).isTrue();
        assertThat(visit.rejection()).isNull();
        assertThat(visit.completed(200, null).outcome()).isEqualTo(Outcome.EXEMPT);
    }

    /** Authentication comes after it, so the address of an exempt user is no exception. */
    @ParameterizedTest
    @EnumSource(Mode.class)
    void addressLimitHoldsForAnExemptAuthorityInEveryMode(Mode mode) {
        TestGate gate =
                new TestGate().rule(byAddress("flood")).exempting(exempting(Set.of("ROLE_BOSS"), List.of(), List.of()));
        gate.usedUp.add("address");
        Visit visit = gate.visit(mode, "/api");

        gate.walk(visit, BOSS);

        assertThat(visit.rejection()).isNotNull();
        assertThat(visit.completed(429, null).outcome()).isEqualTo(Outcome.THROTTLED);
    }

    @Test
    void exemptionCanBeAskedForAnyUserOfTheRequest() {
        TestGate gate = new TestGate().exempting(exempting(Set.of("ROLE_BOSS"), List.of(), List.of()));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        assertThat(visit.isExempt(ALICE)).isFalse();
        assertThat(visit.isExempt(BOSS)).isTrue();
        assertThat(visit.isExempt()).isFalse();
    }

    // API keys

    @Test
    void unknownKeyIsAGuessAndRejected() {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api", gate.presenting(null)));

        Instruction next = gate.follow(visit, visit.arrive());

        assertThat(rejected(next).reason()).isEqualTo(Reason.UNKNOWN_API_KEY);
        assertThat(rejected(next).status()).isEqualTo(401);
        assertThat(givesBack(next)).isFalse();
        assertThat(gate.asks).hasSize(1);
        assertThat(gate.askedAt(0)).containsExactly("guesses of ip:192.0.2.1");
        assertThat(gate.asks.get(0).revocable()).isFalse();
        assertThat(visit.hasUnknownApiKey()).isTrue();
    }

    @Test
    void guessBeyondTheLimitIsThrottled() {
        TestGate gate = new TestGate();
        gate.usedUp.add("guesses");
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api", gate.presenting(null)));

        Instruction next = gate.follow(visit, visit.arrive());

        assertThat(rejected(next).status()).isEqualTo(429);
        assertThat(rejected(next).retryAfterSeconds()).isEqualTo(60);
        assertThat(gate.lookups).isEqualTo(1);
    }

    /** An unknown key stays unknown: neither failure policy says otherwise. */
    @Test
    void unknownKeyIsRejectedAlsoIfTheStoreFails() {
        TestGate gate = new TestGate();
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api", gate.presenting(null)));
        Instruction.Ask ask = (Instruction.Ask) visit.arrive();

        Instruction next = visit.answered(
                new Decision(Outcome.FAILED, true, 0, List.of(), Duration.ZERO, new IllegalStateException("down")),
                TestGate.TOOK);

        assertThat(ask.limits().items()).hasSize(1);
        assertThat(rejected(next).status()).isEqualTo(401);
    }

    @Test
    void keyIsNotLookedUpWhileItsAddressIsDenied() {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        gate.usedUp.add("guesses");
        gate.remembered = gate.answer(LimitRequest.of(Subject.ip("192.0.2.1"), ApiKeys.guessing("guesses", 3)));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api", gate.presenting(keyOf("olga"))));

        Instruction next = gate.follow(visit, visit.arrive());

        assertThat(rejected(next).status()).isEqualTo(429);
        assertThat(gate.lookups).isZero();
        assertThat(gate.asks).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"PEEK", "EXPLAIN"})
    void validKeyOfADeniedAddressIsThrottledInQuestionsToo(Mode mode) {
        TestGate gate = new TestGate().rule(byUser("fair"));
        gate.usedUp.add("guesses");
        gate.remembered = gate.answer(LimitRequest.of(Subject.ip("192.0.2.1"), ApiKeys.guessing("guesses", 3)));
        Visit visit = gate.visit(mode, gate.arrival("/api", gate.presenting(keyOf("olga"))));

        gate.walk(visit, Identity.NOBODY);

        assertThat(visit.completed(0, null).outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(visit.completed(0, null).allowed()).isFalse();
        assertThat(gate.askedAt(0)).as("the walk goes on").containsExactly("user of user:olga");
    }

    @Test
    void questionWithoutAnAddressIsNotHeldBackByGuesses() {
        TestGate gate = new TestGate();
        gate.usedUp.add("guesses");
        gate.remembered = gate.answer(LimitRequest.of(Subject.ip("192.0.2.1"), ApiKeys.guessing("guesses", 3)));
        Visit visit = gate.visit(
                Mode.EXPLAIN,
                new Arrival("GET", false, PathReadings.of("/api"), null, gate.presenting(keyOf("olga")), null));

        gate.walk(visit, Identity.NOBODY);

        assertThat(visit.rejection()).isNull();
    }

    @Test
    void requestWithoutAKeyIsNotHeldBackByGuessesOfItsAddress() {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        gate.usedUp.add("guesses");
        gate.remembered = gate.answer(LimitRequest.of(Subject.ip("192.0.2.1"), ApiKeys.guessing("guesses", 3)));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        assertThat(gate.walk(visit, ALICE)).isEqualTo(AT_ONCE);
    }

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"PEEK", "EXPLAIN"})
    void questionLooksAtTheGuessesOfAnUnknownKeyAndGoesOn(Mode mode) {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        Visit visit = gate.visit(mode, gate.arrival("/api", gate.presenting(null)));

        gate.walk(visit, Identity.NOBODY);

        assertThat(gate.askedAt(0)).containsExactly("guesses of ip:192.0.2.1");
        assertThat(gate.askedAt(1)).containsExactly("address of ip:192.0.2.1");
        assertThat(visit.rejection()).isNotNull();
        assertThat(visit.rejection().reason()).isEqualTo(Reason.UNKNOWN_API_KEY);
        assertThat(visit.completed(0, null).outcome()).isEqualTo(Outcome.UNKNOWN_API_KEY);
    }

    /** Another instance may have used them up, so that this one remembers nothing. */
    @ParameterizedTest
    @EnumSource(Mode.class)
    void guessBeyondTheLimitIsThrottledInEveryMode(Mode mode) {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        gate.usedUp.add("guesses");
        Visit visit = gate.visit(mode, gate.arrival("/api", gate.presenting(null)));

        gate.walk(visit, Identity.NOBODY);

        assertThat(visit.completed(0, null).outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(visit.rejection()).isNotNull();
        assertThat(visit.rejection().status()).isEqualTo(429);
        assertThat(gate.asks).hasSize(mode == Mode.CHARGE ? 1 : 2);
    }

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"PEEK", "EXPLAIN"})
    void guessesThatAreRememberedAsUsedUpAreNotAskedAgain(Mode mode) {
        TestGate gate = new TestGate().rule(byAddress("flood"));
        gate.usedUp.add("guesses");
        gate.remembered = gate.answer(LimitRequest.of(Subject.ip("192.0.2.1"), ApiKeys.guessing("guesses", 3)));
        Visit visit = gate.visit(mode, gate.arrival("/api", gate.presenting(null)));

        gate.walk(visit, Identity.NOBODY);

        assertThat(visit.completed(0, null).outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(gate.askedAt(0)).containsExactly("address of ip:192.0.2.1");
    }

    /** The walk does not need it. An endpoint that shows the usage of the sender does. */
    @Test
    void keyOfAnExemptRequestIsLookedUpOnceSomebodyAsksForTheSender() {
        TestGate gate = new TestGate().exempting(exempting(Set.of(), List.of(), List.of("/health")));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/health", gate.presenting(keyOf("olga"))));

        gate.walk(visit, Identity.NOBODY);
        assertThat(gate.lookups).isZero();
        assertThat(visit.presentsApiKey()).isTrue();

        assertThat(visit.subject(Identity.NOBODY)).isEqualTo(Subject.user("olga"));
        assertThat(visit.caller(Identity.NOBODY).user()).isEqualTo("olga");
        assertThat(visit.apiKey()).isEqualTo(keyOf("olga"));
        assertThat(gate.lookups).isEqualTo(1);
    }

    @Test
    void ownerOfTheKeyIsTheUserWhereNobodyIsLoggedIn() {
        TestGate gate = new TestGate().rule(byUser("fair"));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api", gate.presenting(keyOf("olga"))));

        gate.walk(visit, Identity.NOBODY);

        assertThat(gate.askedAt(0)).containsExactly("user of user:olga");
        assertThat(visit.subject(Identity.NOBODY)).isEqualTo(Subject.user("olga"));
        assertThat(visit.subject(ALICE)).isEqualTo(Subject.user("alice"));
    }

    // blocks

    @Test
    void blockedUserIsRejectedForTheRestOfTheBlock() {
        TestGate gate = new TestGate().rule(byUser("fair")).blocking("alice", Duration.ofHours(2));
        Visit visit = gate.visit(Mode.CHARGE, "/api");
        gate.clock.move(Duration.ofMinutes(30));

        Instruction next = gate.walk(visit, ALICE);

        assertThat(rejected(next).reason()).isEqualTo(Reason.BLOCKED);
        assertThat(rejected(next).status()).isEqualTo(403);
        assertThat(rejected(next).retryAfterSeconds()).isEqualTo(90 * 60);
        assertThat(rejected(next).rule()).isNull();
        assertThat(gate.asks).isEmpty();
    }

    /** They count as the same user, so they are blocked as the same one. */
    @Test
    void blanksAroundTheNameOfAUserHideNoBlock() {
        TestGate gate = new TestGate().rule(byUser("fair")).blocking("alice", Duration.ofHours(2));

        Instruction next = gate.walk(gate.visit(Mode.CHARGE, "/api"), new Identity(" alice\u2003", Set.of()));

        assertThat(rejected(next).reason()).isEqualTo(Reason.BLOCKED);
    }

    /** Subjects are composed, and an operator may block the name that is seen there. */
    @Test
    void decomposedNameOfAUserHidesNoBlock() {
        TestGate gate = new TestGate().rule(byUser("fair")).blocking("zo\u00eb", Duration.ofHours(2));

        Instruction next = gate.walk(gate.visit(Mode.CHARGE, "/api"), new Identity("zoe\u0308", Set.of()));

        assertThat(rejected(next).reason()).isEqualTo(Reason.BLOCKED);
    }

    @Test
    void blockThatIsOverHoldsNobody() {
        TestGate gate = new TestGate().blocking("alice", Duration.ofHours(2));
        gate.clock.move(Duration.ofHours(2));

        assertThat(gate.walk(gate.visit(Mode.CHARGE, "/api"), ALICE)).isEqualTo(AT_ONCE);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void keyOfABlockedOwnerIsRejectedInEveryMode(Mode mode) {
        TestGate gate = new TestGate().rule(byUser("fair")).blocking("olga", Duration.ofHours(1));
        Visit visit = gate.visit(mode, gate.arrival("/api", gate.presenting(keyOf("olga"))));

        Instruction next = gate.walk(visit, ALICE);

        assertThat(visit.blockedUntil()).isEqualTo(gate.clock.instant().plus(Duration.ofHours(1)));
        assertThat(visit.rejection()).isNotNull();
        assertThat(visit.rejection().outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(visit.completed(403, null).outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(next instanceof Instruction.Reject).isEqualTo(mode == Mode.CHARGE);
        assertThat(gate.asks).hasSize(mode == Mode.CHARGE ? 0 : 1);
    }

    @Test
    void longerOfTwoBlocksCounts() {
        TestGate gate = new TestGate().blocking("alice", Duration.ofHours(1)).blocking("olga", Duration.ofHours(3));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/api", gate.presenting(keyOf("olga"))));

        assertThat(rejected(gate.walk(visit, ALICE)).remaining()).isEqualTo(Duration.ofHours(3));
    }

    @Test
    void ruleBlocksOnArrivalInItsOwnWay() {
        Response teapot = new Response(418, "No.", Duration.ofMinutes(1));
        TestGate gate = new TestGate()
                .rule(blocking("closed").response(teapot))
                .rule(byAddress("flood").priority(-1));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        Instruction next = visit.arrive();

        assertThat(rejected(next).status()).isEqualTo(418);
        assertThat(rejected(next).rule()).isEqualTo("closed");
        assertThat(rejected(next).retryAfterSeconds()).isEqualTo(60);
        assertThat(givesBack(next)).isFalse();
    }

    @Test
    void ruleThatNeedsTheUserBlocksAfterIdentification() {
        TestGate gate = new TestGate()
                .rule(byAddress("flood").priority(1))
                .rule(blocking("closed").authorities("ROLE_GUEST"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        assertThat(gate.follow(visit, visit.arrive())).isEqualTo(AT_ONCE);
        Instruction next = visit.identified(new Identity("gus", Set.of("ROLE_GUEST")));

        assertThat(rejected(next).rule()).isEqualTo("closed");
        assertThat(givesBack(next)).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = Mode.class,
            names = {"PEEK", "EXPLAIN"})
    void questionGoesOnAfterARejectionAndKeepsTheFirst(Mode mode) {
        TestGate gate =
                new TestGate().rule(byAddress("flood")).rule(byUser("fair")).blocking("alice", Duration.ofHours(1));
        gate.usedUp.add("address");
        gate.usedUp.add("user");
        Visit visit = gate.visit(mode, "/api");

        assertThat(gate.walk(visit, ALICE)).isEqualTo(AT_ONCE);

        assertThat(gate.asks).hasSize(2);
        assertThat(gate.asks).noneMatch(Instruction.Ask::revocable);
        assertThat(visit.rejection()).isNotNull();
        assertThat(visit.rejection().rule()).isEqualTo("flood");
        assertThat(visit.rejection().outcome()).isEqualTo(Outcome.THROTTLED);
    }

    // charges that are given back

    @Test
    void chargeOnArrivalIsRevocableOnlyIfThereIsASecondDecision() {
        TestGate open = new TestGate().rule(byAddress("flood")).rule(byUser("fair"));
        TestGate closed = new TestGate().rule(byAddress("flood"));

        assertThat(((Instruction.Ask) open.visit(Mode.CHARGE, "/api").arrive()).revocable())
                .isTrue();
        assertThat(((Instruction.Ask) closed.visit(Mode.CHARGE, "/api").arrive()).revocable())
                .isFalse();
    }

    @Test
    void chargeOfTheSecondDecisionIsNotRevocable() {
        TestGate gate = new TestGate().rule(byUser("fair"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");
        visit.arrive();

        assertThat(((Instruction.Ask) visit.identified(ALICE)).revocable()).isFalse();
    }

    @Test
    void chargeOnArrivalIsGivenBackIfTheSecondDecisionRejects() {
        TestGate gate = new TestGate().rule(byAddress("flood")).rule(byUser("fair"));
        gate.usedUp.add("user");

        Instruction next = gate.walk(gate.visit(Mode.CHARGE, "/api"), ALICE);

        assertThat(rejected(next).rule()).isEqualTo("fair");
        assertThat(givesBack(next)).isTrue();
    }

    /** Or tokens could be guessed for free where an invalid one only makes the request anonymous. */
    @Test
    void chargeOnArrivalStaysIfNobodyKnowsTheSender() {
        TestGate gate = new TestGate().rule(byAddress("flood")).rule(byUser("fair"));
        gate.usedUp.add("user");

        Instruction next = gate.walk(gate.visit(Mode.CHARGE, "/api"), Identity.NOBODY);

        assertThat(rejected(next).rule()).isEqualTo("fair");
        assertThat(givesBack(next)).isFalse();
    }

    @Test
    void chargeOnArrivalStaysIfTheAccountIsBlocked() {
        TestGate gate =
                new TestGate().rule(byAddress("flood")).rule(byUser("fair")).blocking("alice", Duration.ofHours(1));

        assertThat(givesBack(gate.walk(gate.visit(Mode.CHARGE, "/api"), ALICE))).isFalse();
    }

    @Test
    void nothingIsGivenBackIfTheFirstDecisionRejects() {
        TestGate gate = new TestGate().rule(byAddress("flood")).rule(byUser("fair"));
        gate.usedUp.add("address");

        Instruction next = gate.walk(gate.visit(Mode.CHARGE, "/api"), ALICE);

        assertThat(rejected(next).rule()).isEqualTo("flood");
        assertThat(givesBack(next)).isFalse();
    }

    @Test
    void nothingIsGivenBackIfNothingWasCharged() {
        TestGate gate = new TestGate().rule(byUser("fair"));
        gate.usedUp.add("user");

        assertThat(givesBack(gate.walk(gate.visit(Mode.CHARGE, "/api"), ALICE))).isFalse();
    }

    // limits of several rules

    @Test
    void limitOfTwoRulesIsAskedOnceForOneSubject() {
        TestGate gate = new TestGate()
                .rule(byAddress("low").priority(1))
                .rule(byAddress("high").priority(9))
                .rule(byUser("nobody").limits("address").priority(5));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, Identity.NOBODY);

        assertThat(gate.asks)
                .as("a user who is not known counts as the address")
                .hasSize(1);
        assertThat(gate.askedAt(0)).containsExactly("address of ip:192.0.2.1");
        assertThat(gate.asks.get(0).limits().items().get(0).rule()).isEqualTo("high");
    }

    @Test
    void limitOfTwoRulesIsAskedForEachOfTwoSubjects() {
        TestGate gate =
                new TestGate().rule(byAddress("flood")).rule(byUser("fair").limits("address"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, ALICE);

        assertThat(gate.askedAt(0)).containsExactly("address of ip:192.0.2.1");
        assertThat(gate.askedAt(1)).containsExactly("address of user:alice");
    }

    @Test
    void limitOnTrialIsTriedOnceAcrossBothSteps() {
        TestGate gate = new TestGate()
                .rule(byAddress("one").action(Action.SHADOW))
                .rule(byUser("two").limits("address").action(Action.SHADOW));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, Identity.NOBODY);

        assertThat(gate.asks.stream().flatMap(ask -> ask.limits().trials().stream()))
                .extracting(item -> item.limitName() + " for " + item.rule())
                .containsExactly("address:shadow for one");
    }

    @Test
    void strictestFailurePolicyOfTheRulesCounts() {
        TestGate gate = new TestGate()
                .rule(byAddress("open").onFailure(FailurePolicy.OPEN))
                .rule(byAddress("closed").limits("other").onFailure(FailurePolicy.CLOSED))
                .rule(byUser("fair").onFailure(FailurePolicy.OPEN));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, ALICE);

        assertThat(gate.asks.get(0).limits().onFailure()).isEqualTo(FailurePolicy.CLOSED);
        assertThat(gate.asks.get(1).limits().onFailure())
                .as("each call has its own")
                .isEqualTo(FailurePolicy.OPEN);
    }

    @Test
    void ruleWithoutAFailurePolicyLeavesItToTheOthersOrTheLimiter() {
        TestGate gate = new TestGate()
                .rule(byAddress("unset"))
                .rule(byAddress("open").limits("other").onFailure(FailurePolicy.OPEN))
                .rule(byUser("fair"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, ALICE);

        assertThat(gate.asks.get(0).limits().onFailure()).isEqualTo(FailurePolicy.OPEN);
        assertThat(gate.asks.get(1).limits().onFailure()).isNull();
    }

    @Test
    void failurePolicyOfATrialIsIgnored() {
        TestGate gate = new TestGate()
                .rule(byAddress("real").onFailure(FailurePolicy.OPEN))
                .rule(byAddress("trial").action(Action.SHADOW).limits("other").onFailure(FailurePolicy.CLOSED));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, ALICE);

        assertThat(gate.asks.get(0).limits().onFailure()).isEqualTo(FailurePolicy.OPEN);
    }

    @Test
    void rejectionIsAnsweredAsTheRuleOfTheTightestLimitWants() {
        Response later = new Response(503, "Later.", Duration.ofHours(1));
        TestGate gate = new TestGate()
                .rule(byAddress("fine").priority(9))
                .rule(byAddress("full").limits("other").response(later));
        gate.usedUp.add("other");

        Rejection rejection = rejected(gate.walk(gate.visit(Mode.CHARGE, "/api"), ALICE));

        assertThat(rejection.rule()).isEqualTo("full");
        assertThat(rejection.status()).isEqualTo(503);
        assertThat(rejection.retryAfterSeconds()).isEqualTo(3600);
    }

    @Test
    void limitHasTheNumbersOfTheTier() {
        TestGate gate = new TestGate().rule(byUser("fair").limits("tiered"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, new Identity("paula", Set.of("ROLE_PREMIUM")));

        assertThat(gate.asks.get(0).limits().items().get(0).limit().capacity()).isEqualTo(50);
        assertThat(visit.caller().tier()).isEqualTo("premium");
    }

    // rerouted requests

    @Test
    void rulesOfTheNewPathAreAskedAndThoseBeforeNotAgain() {
        TestGate gate = new TestGate()
                .rule(byAddress("all"))
                .rule(byAddress("new").path("/new").limits("other"))
                .rule(byUser("fair").path("/new"));
        Visit visit = gate.visit(Mode.CHARGE, "/old");
        gate.follow(visit, visit.arrive());

        gate.follow(visit, visit.rerouted(gate.arrival("/new", null), Identity.NOBODY));
        gate.follow(visit, visit.identified(ALICE));

        assertThat(gate.askedAt(0)).containsExactly("address of ip:192.0.2.1");
        assertThat(gate.askedAt(1)).containsExactly("other of ip:192.0.2.1");
        assertThat(gate.askedAt(2)).containsExactly("user of user:alice");
        assertThat(gate.asks).hasSize(3);
    }

    @Test
    void exemptionOfTheOldPathIsNotTakenAlongToTheNewOne() {
        TestGate gate = new TestGate()
                .rule(byAddress("flood"))
                .rule(byUser("fair"))
                .exempting(exempting(Set.of(), List.of(), List.of("/health/**")));
        Visit visit = gate.visit(Mode.CHARGE, "/health/live");
        gate.follow(visit, visit.arrive());

        gate.follow(visit, visit.rerouted(gate.arrival("/api", null), Identity.NOBODY));
        gate.follow(visit, visit.identified(ALICE));

        assertThat(visit.isExempt()).isFalse();
        assertThat(gate.askedAt(0)).containsExactly("address of ip:192.0.2.1");
        assertThat(gate.askedAt(1)).containsExactly("user of user:alice");
    }

    @Test
    void unknownKeyOfAnExemptPathIsRejectedOnTheNewOne() {
        TestGate gate = new TestGate().exempting(exempting(Set.of(), List.of(), List.of("/health/**")));
        Visit visit = gate.visit(Mode.CHARGE, gate.arrival("/health/live", gate.presenting(null)));
        gate.follow(visit, visit.arrive());

        Instruction next =
                gate.follow(visit, visit.rerouted(gate.arrival("/api", gate.presenting(null)), Identity.NOBODY));

        assertThat(rejected(next).status()).isEqualTo(401);
    }

    @Test
    void exemptAddressStaysExemptOnTheNewPath() {
        TestGate gate = new TestGate()
                .rule(byAddress("flood"))
                .exempting(exempting(Set.of(), List.of(ADDRESS.toString()), List.of()));
        Visit visit = gate.visit(Mode.CHARGE, "/old");
        gate.follow(visit, visit.arrive());

        assertThat(visit.rerouted(gate.arrival("/new", null), Identity.NOBODY)).isEqualTo(AT_ONCE);
        assertThat(visit.identified(ALICE)).isEqualTo(AT_ONCE);
        assertThat(gate.asks).isEmpty();
    }

    @Test
    void ruleOfTheNewPathBlocks() {
        TestGate gate =
                new TestGate().rule(byAddress("flood")).rule(blocking("closed").path("/new"));
        Visit visit = gate.visit(Mode.CHARGE, "/old");
        gate.follow(visit, visit.arrive());

        assertThat(rejected(visit.rerouted(gate.arrival("/new", null), Identity.NOBODY))
                        .rule())
                .isEqualTo("closed");
    }

    // explanations

    @Test
    void everyRuleIsExplainedWithItsReason() {
        TestGate gate = new TestGate()
                .rule(byAddress("flood").priority(3))
                .rule(byUser("posts").priority(2).methods("POST"))
                .rule(byUser("premium").priority(1).tiers("premium"))
                .rule(blocking("closed"));
        Visit visit = gate.visit(Mode.EXPLAIN, "/api");

        gate.walk(visit, ALICE);

        assertThat(visit.explained())
                .extracting(one -> one.rule().name() + " " + one.applies())
                .containsExactly("flood true", "posts false", "premium false", "closed true");
        assertThat(visit.explained().get(2).why()).contains("free", "premium");
        assertThat(visit.completed(0, null).outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(visit.completed(0, null).rule()).isEqualTo("closed");
    }

    @Test
    void onlyAnExplainedVisitExplains() {
        TestGate gate = new TestGate().rule(byUser("fair"));
        Visit visit = gate.visit(Mode.CHARGE, "/api");

        gate.walk(visit, ALICE);

        assertThat(visit.explained()).isEmpty();
    }

    @Test
    void exemptRequestIsExplainedAsIfItWereNot() {
        TestGate gate =
                new TestGate().rule(byUser("fair")).exempting(exempting(Set.of("ROLE_BOSS"), List.of(), List.of()));
        gate.usedUp.add("user");
        Visit visit = gate.visit(Mode.EXPLAIN, "/api");

        gate.walk(visit, BOSS);

        assertThat(visit.explained()).singleElement().matches(one -> one.applies());
        assertThat(visit.completed(0, null).outcome()).isEqualTo(Outcome.EXEMPT);
        assertThat(visit.completed(0, null).allowed()).isTrue();
    }

    @Test
    void subjectThatOnlyALiveRequestKnowsIsLeftOpen() {
        TestGate gate = new TestGate().rule(byUser("session").key("session")).rule(byAddress("flood"));
        Visit visit = gate.visit(Mode.EXPLAIN, new Arrival("GET", false, PathReadings.of("/api"), null, null, null));

        gate.walk(visit, ALICE);

        assertThat(gate.asks).as("neither a session nor an address is known").isEmpty();
        assertThat(visit.counted(visit.explained().get(0).rule()))
                .singleElement()
                .matches(one -> one.subject() == null);
    }
}
