package dev.ratelimit.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.TestSeed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Some requests of a group are late, as on a busy machine, and the others are not. */
class ForeseenAnswersTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Limit TEN =
            Limit.named("ten").algorithm(new FixedWindow(10, HOUR)).build();

    private static final TestSeed SEED = TestSeed.of("ForeseenAnswersTest");

    private final SettableClock clock = new SettableClock();
    private final MemoryLimitStore store = new MemoryLimitStore(clock);
    private final LocalDecisions local = new LocalDecisions(1, clock);

    static Stream<Limit> limitsOfTen() {
        return Stream.of(
                        new FixedWindow(10, HOUR),
                        new SlidingWindow(10, HOUR),
                        new SlidingLog(10, HOUR),
                        new TokenBucket(10, Rate.of(10, HOUR)),
                        new LeakyBucket(10, Rate.of(10, HOUR)))
                .map(algorithm -> Limit.named("limit").algorithm(algorithm).build());
    }

    private static Pending request(Limit... limits) {
        List<Demand> demands = new ArrayList<>();
        for (Limit limit : limits) {
            demands.add(new Demand(ALICE, limit, 1));
        }
        return new Pending(new Operation(Kind.DECIDE, demands), null, true);
    }

    private static List<Pending> requests(int number, Limit... limits) {
        return IntStream.range(0, number).mapToObj(i -> request(limits)).toList();
    }

    private List<Answer> decideInStore(List<Pending> sent) {
        return store.decide(sent.stream().map(Pending::sent).toList());
    }

    private boolean isAdmittedHere(Pending late) {
        return local.decide(late).answer().allowed();
    }

    private static long admitted(List<Answer> answers) {
        return answers.stream().filter(Answer::allowed).count();
    }

    /** The remainder that the store still grants. */
    private int leftInStore(Limit... limits) {
        int left = 0;
        while (admitted(store.decide(List.of(request(limits).operation))) == 1) {
            left++;
        }
        return left;
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void lateRequestGetsTheAnswerThatTheStoreGivesIt(Limit limit) {
        List<Pending> group = local.send(requests(20, limit));

        // Their order in the group decides, not the order of arrival.
        assertThat(isAdmittedHere(group.get(15))).isFalse();
        assertThat(isAdmittedHere(group.get(9))).isTrue();
        assertThat(isAdmittedHere(group.get(10))).isFalse();
        assertThat(isAdmittedHere(group.get(0))).isTrue();

        List<Answer> answers = decideInStore(group);
        assertThat(local.answered(group, answers)).as("to take back").isEmpty();
        local.returned(group);
        assertThat(admitted(answers)).isEqualTo(10);
        assertThat(local.debts()).isZero();
        assertThat(leftInStore(limit)).isZero();
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void debtIsNotChargedBehindAResetInTheSameGroup(Limit limit) {
        assertThat(isAdmittedHere(request(limit))).isTrue();
        assertThat(local.debts()).isEqualTo(1);
        Pending reset =
                new Pending(new Operation(Kind.RESET, request(limit).operation.demands()));

        List<Pending> group = local.send(List.of(reset, request(limit)));
        assertThat(local.answered(group, decideInStore(group))).isEmpty();
        local.returned(group);

        assertThat(local.debts()).isZero();
        assertThat(leftInStore(limit)).isEqualTo(9);
    }

    /** The limit was reset elsewhere, so that the store has room where this instance sees none. */
    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void requestThatIsDeniedHereDoesNotCountForTheIntervalOfTheStore(Limit of) {
        Limit paced = Limit.named("paced")
                .algorithm(of.algorithm().share(10))
                .minInterval(HOUR)
                .build();
        List<Pending> first = local.send(requests(1, paced));
        assertThat(local.answered(first, decideInStore(first))).isEmpty();
        local.returned(first);
        store.decide(List.of(new Operation(Kind.RESET, request(paced).operation.demands())));

        List<Pending> late = local.send(requests(1, paced));
        assertThat(isAdmittedHere(late.get(0))).isFalse();
        List<Answer> answers = decideInStore(late);
        assertThat(admitted(answers)).isEqualTo(1);
        store.decide(local.answered(late, answers));
        local.returned(late);

        assertThat(leftInStore(paced)).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void requestThatIsNotAtTheStoreComesAfterThoseThatAre(Limit limit) {
        List<Pending> group = local.send(requests(7, limit));
        Pending waiting = request(limit);

        assertThat(isAdmittedHere(waiting)).isTrue();
        assertThat(IntStream.range(0, 20).filter(i -> isAdmittedHere(request(limit))))
                .hasSize(2);

        assertThat(local.answered(group, decideInStore(group))).isEmpty();
        local.returned(group);
        assertThat(local.debts()).isEqualTo(1);
        List<Pending> next = local.send(requests(1, limit));
        List<Answer> denied = decideInStore(next);
        local.answered(next, denied);
        assertThat(admitted(denied)).as("after the debt").isZero();
        assertThat(local.debts()).isZero();
        assertThat(leftInStore(limit)).isZero();
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void foreseenAnswerThatNobodyWasToldLeavesNothing(Limit limit) {
        List<Pending> group = local.send(requests(4, limit));
        isAdmittedHere(group.get(3));
        // Meanwhile another instance has used up all but one.
        store.decide(requests(9, limit).stream().map(one -> one.operation).toList());

        List<Answer> answers = decideInStore(group);
        assertThat(local.answered(group, answers)).isEmpty();
        local.returned(group);

        assertThat(admitted(answers)).isEqualTo(1);
        assertThat(local.debts()).as("the one that was told").isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void groupThatFailsIsDecidedAsForeseen(Limit limit) {
        List<Pending> group = local.send(requests(20, limit));
        assertThat(isAdmittedHere(group.get(12))).isFalse();

        local.failed(group);
        local.returned(group);

        assertThat(group.stream().filter(this::isAdmittedHere))
                .hasSize(10)
                .containsExactlyElementsOf(group.subList(0, 10));
        List<Pending> next = local.send(requests(1, limit));
        assertThat(admitted(decideInStore(next))).isZero();
        assertThat(leftInStore(limit)).isZero();
    }

    @Test
    void failedGroupOfRequestsWithAnotherPolicyOwesNothing() {
        List<Pending> group = local.send(IntStream.range(0, 5)
                .mapToObj(i -> new Pending(request(TEN).operation))
                .toList());
        isAdmittedHere(request(TEN));

        local.failed(group);
        local.returned(group);

        assertThat(IntStream.range(0, 20).filter(i -> isAdmittedHere(request(TEN))))
                .hasSize(9);
    }

    @Test
    void violationOfARequestAtTheStoreIsCountedByTheStoreAlone() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(1, Duration.ofMinutes(1)))
                .penalty(3, HOUR)
                .build();
        List<Pending> group = local.send(requests(3, strict));
        assertThat(group.stream().filter(this::isAdmittedHere)).hasSize(1);
        local.answered(group, decideInStore(group));
        local.returned(group);
        clock.move(Duration.ofMinutes(1));

        // Two violations so far: one more is the third.
        List<Pending> next = local.send(requests(3, strict));
        List<Answer> answers = decideInStore(next);
        assertThat(answers.get(0).allowed()).isTrue();
        assertThat(answers.get(1).verdicts().get(0).penaltyUntil()).isPositive();
    }

    /** Groups that are late in part, of requests over two limits, at random: in all, each limit passes what it grants. */
    @RepeatedTest(30)
    void exactlyTheLimitPassesWhoeverIsLate(RepetitionInfo repetition) {
        RandomGenerator random = SEED.history(repetition.getCurrentRepetition());
        Limit seven = Limit.named("seven")
                .algorithm(new TokenBucket(7, Rate.of(1, Duration.ofDays(100))))
                .build();
        int passed = 0;
        int passedOfSeven = 0;
        for (int round = 0; round < 30; round++) {
            List<Pending> requests = new ArrayList<>();
            for (int i = 0; i < 1 + random.nextInt(6); i++) {
                requests.add(random.nextBoolean() ? request(TEN) : request(TEN, seven));
            }
            List<Pending> told = new ArrayList<>();
            List<Pending> group = local.send(requests);
            for (Pending pending : group) {
                if (random.nextInt(3) == 0) {
                    local.decide(pending);
                }
            }
            Pending waiting = random.nextBoolean() ? request(TEN) : request(TEN, seven);
            if (random.nextInt(3) == 0) {
                local.decide(waiting);
                told.add(waiting);
            }
            List<Answer> answers = decideInStore(group);
            List<Operation> refunds = local.answered(group, answers);
            local.returned(group);
            assertThat(refunds).as("%s", SEED).isEmpty();
            told.addAll(group);
            for (Pending pending : told) {
                Answer answer = pending.decidedHere() != null ? pending.decidedHere() : pending.storeAnswer();
                if (answer.allowed()) {
                    passed++;
                    passedOfSeven += pending.keys.size() - 1;
                }
            }
        }
        assertThat(passed).as("%s", SEED).isEqualTo(10);
        assertThat(passedOfSeven).as("%s", SEED).isLessThanOrEqualTo(7);
    }
}
