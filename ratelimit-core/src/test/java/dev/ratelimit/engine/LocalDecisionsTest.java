package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests, and the count of the store, while the store is unavailable. */
@Timeout(60)
class LocalDecisionsTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Subject BOB = Subject.user("bob");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Limit TEN =
            Limit.named("ten").algorithm(new FixedWindow(10, HOUR)).build();

    private final SettableClock clock = new SettableClock();
    private final MemoryLimitStore memory = new MemoryLimitStore(clock);
    private final SwitchedStore store = new SwitchedStore(memory);
    private final List<StoreRateLimiter> limiters = new ArrayList<>();

    @AfterEach
    void close() {
        limiters.forEach(StoreRateLimiter::close);
    }

    private StoreRateLimiter limiter() {
        return limiter(1, Duration.ofSeconds(20));
    }

    private StoreRateLimiter limiter(int instances, Duration deadline) {
        StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of())
                .grouping(Grouping.DEFAULT.withDeadline(deadline))
                .instances(instances)
                .build();
        limiters.add(limiter);
        return limiter;
    }

    @Test
    void afterForgettingEverythingTheStoreIsAskedAtOnceAndIsOwedNothing() {
        StoreRateLimiter limiter = limiter(1, Duration.ofMillis(20));
        store.down(true);
        await().until(() -> {
            limiter.decide(ALICE, TEN);
            return limiter.remembered(LimitRequest.of(ALICE, TEN)) != null; // the breaker is open, and ten are granted
        });
        store.down(false);
        int calls = store.calls();

        limiter.forgetEverything();

        assertThat(limiter.peek(LimitRequest.of(ALICE, TEN)).remaining()).isEqualTo(10);
        await().until(() -> store.calls() > calls);
        assertThat(limiter.decide(LimitRequest.of(ALICE, TEN)).remaining()).isEqualTo(9);
    }

    /** One of each algorithm that grants ten at once. */
    static Stream<Limit> limitsOfTen() {
        return Stream.of(
                        new FixedWindow(10, HOUR),
                        new SlidingWindow(10, HOUR),
                        new SlidingLog(10, HOUR),
                        new TokenBucket(10, Rate.of(10, HOUR)),
                        new LeakyBucket(10, Rate.of(10, HOUR)))
                .map(algorithm -> Limit.named("limit").algorithm(algorithm).build());
    }

    private static int admitted(StoreRateLimiter limiter, Subject subject, Limit limit, int requests) {
        int admitted = 0;
        for (int i = 0; i < requests; i++) {
            admitted += limiter.decide(subject, limit).allowed() ? 1 : 0;
        }
        return admitted;
    }

    /** The remainder that the store grants without this instance. */
    private long leftInStore(Subject subject, Limit limit) {
        try (StoreRateLimiter other =
                StoreRateLimiter.builder(memory, Limits.of()).build()) {
            return other.peek(LimitRequest.of(subject, limit)).remaining();
        }
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void whileTheStoreIsDownExactlyTheLimitPasses(Limit limit) {
        store.down(true);

        assertThat(admitted(limiter(), ALICE, limit, 30)).isEqualTo(10);
    }

    /** There is room for 50,000 subjects. Later ones share a count, so that a flood of names admits no more than one caller. */
    @Test
    void floodOfSubjectsFreesNobodyAndThoseWithoutRoomShareOneLimit() {
        store.down(true);
        StoreRateLimiter limiter = limiter();
        assertThat(admitted(limiter, ALICE, TEN, 30)).isEqualTo(10);
        for (int i = 1; i < 50_000; i++) {
            assertThat(limiter.decide(Subject.user("flood" + i), TEN).allowed()).isTrue();
        }

        int admitted = 0;
        for (int i = 0; i < 1_000; i++) {
            admitted += limiter.decide(Subject.user("late" + i), TEN).allowed() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(10);
        assertThat(limiter.decide(ALICE, TEN).allowed()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void itGoesOnFromWhatTheStoreHasLastSaid(Limit limit) {
        StoreRateLimiter limiter = limiter();
        assertThat(admitted(limiter, ALICE, limit, 4)).isEqualTo(4);
        store.down(true);

        assertThat(admitted(limiter, ALICE, limit, 30)).isEqualTo(6);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void whatWasGrantedIsChargedWhenTheStoreIsBack(Limit limit) {
        StoreRateLimiter limiter = limiter();
        admitted(limiter, ALICE, limit, 2);
        store.down(true);
        admitted(limiter, ALICE, limit, 5);
        store.down(false);

        Decision next = decidedByTheStore(limiter, ALICE, limit);

        assertThat(next.remaining()).isEqualTo(2);
        assertThat(leftInStore(ALICE, limit)).isEqualTo(2);
        assertThat(admitted(limiter, ALICE, limit, 30)).isEqualTo(2);
    }

    /** The breaker leaves a store that has failed alone for a second. */
    private static Decision decidedByTheStore(StoreRateLimiter limiter, Subject subject, Limit limit) {
        LimitRequest request = LimitRequest.of(subject, limit).onFailure(FailurePolicy.CLOSED);
        return await().atMost(Duration.ofSeconds(20))
                .until(() -> limiter.decide(request), decision -> decision.failure() == null);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void debtIsChargedEvenWhereOthersHaveUsedTheLimitUp(Limit limit) {
        StoreRateLimiter limiter = limiter();
        store.down(true);
        admitted(limiter, ALICE, limit, 6);
        try (StoreRateLimiter other =
                StoreRateLimiter.builder(memory, Limits.of()).build()) {
            assertThat(admitted(other, ALICE, limit, 30)).isEqualTo(10);
        }
        store.down(false);

        assertThat(decidedByTheStore(limiter, ALICE, limit).allowed()).isFalse();

        // Without the debt, a bucket would have five again.
        clock.move(HOUR.dividedBy(2));
        assertThat(leftInStore(ALICE, limit)).isZero();
        clock.move(HOUR.multipliedBy(2));
        assertThat(leftInStore(ALICE, limit)).isEqualTo(10);
    }

    @Test
    void debtNeverCountsAsAViolation() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(10, HOUR))
                .penalty(1, Duration.ofDays(1))
                .build();
        StoreRateLimiter limiter = limiter();
        store.down(true);
        admitted(limiter, ALICE, strict, 8);
        try (StoreRateLimiter other =
                StoreRateLimiter.builder(memory, Limits.of()).build()) {
            assertThat(admitted(other, ALICE, strict, 10)).isEqualTo(10);
        }
        store.down(false);

        // Nobody asks for Alice: her debt is brought to the store with the requests of others.
        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            decidedByTheStore(limiter, BOB, TEN);
            assertThat(limiter.peek(LimitRequest.of(ALICE, strict)).penaltyUntil())
                    .isNull();
            assertThat(leftInStore(ALICE, strict)).isZero();
        });
        clock.move(HOUR);
        assertThat(limiter.decide(ALICE, strict).allowed()).isTrue();
    }

    @Test
    void debtOfASubjectThatNobodyAsksForIsChargedToo() {
        StoreRateLimiter limiter = limiter();
        store.down(true);
        admitted(limiter, ALICE, TEN, 7);
        store.down(false);

        decidedByTheStore(limiter, BOB, TEN);

        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(leftInStore(ALICE, TEN)).isEqualTo(3));
    }

    @Test
    void debtOfAWindowThatIsOverIsForgotten() {
        StoreRateLimiter limiter = limiter();
        store.down(true);
        admitted(limiter, ALICE, TEN, 10);
        clock.move(HOUR);
        store.down(false);

        assertThat(decidedByTheStore(limiter, ALICE, TEN).remaining()).isEqualTo(9);
    }

    /** Ten minutes of an outage must not be paid back with ten minutes of denials. */
    @Test
    void debtOfABucketIsNoMoreThanTheBucketLacks() {
        Limit bucket = Limit.named("bucket")
                .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                .build();
        StoreRateLimiter limiter = limiter();
        store.down(true);
        int granted = 0;
        for (int second = 0; second < 600; second++) {
            granted += admitted(limiter, ALICE, bucket, 5);
            clock.move(Duration.ofSeconds(1));
        }
        store.down(false);

        assertThat(granted).isEqualTo(10 + 599);
        assertThat(decidedByTheStore(limiter, ALICE, bucket).allowed()).isTrue();
    }

    @Test
    void eachOfSeveralInstancesGrantsItsShare() {
        store.down(true);

        assertThat(admitted(limiter(3, Duration.ofSeconds(20)), ALICE, TEN, 30)).isEqualTo(3);
    }

    @ParameterizedTest
    @MethodSource("limitsOfTen")
    void shareOfAnInstanceIsChargedInTheNumbersOfTheLimit(Limit limit) {
        StoreRateLimiter limiter = limiter(2, Duration.ofSeconds(20));
        assertThat(admitted(limiter, ALICE, limit, 2)).isEqualTo(2);
        store.down(true);
        int granted = admitted(limiter, ALICE, limit, 30);
        store.down(false);

        assertThat(granted).isBetween(3, 5);
        assertThat(decidedByTheStore(limiter, ALICE, limit).remaining()).isEqualTo(10 - 2 - granted - 1);
    }

    @Test
    void decisionSaysThatItIsLocalAndWhy() {
        StoreRateLimiter limiter = limiter();
        store.down(true);

        Decision decision = limiter.decide(ALICE, TEN);

        assertThat(decision.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(decision.local()).isTrue();
        assertThat(decision.failure()).hasMessageContaining("down");
        assertThat(decision.remaining()).isEqualTo(9);
        assertThat(decision.at()).isEqualTo(clock.instant());
    }

    @Test
    void overloadIsDecidedLocally() throws Exception {
        StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of())
                .grouping(Grouping.DEFAULT.withDeadline(Duration.ofSeconds(20)).withMaxWaiting(1))
                .build();
        limiters.add(limiter);
        CountDownLatch held = new CountDownLatch(1);
        store.holdBefore(held);
        CompletableFuture<Decision> first = CompletableFuture.supplyAsync(() -> limiter.decide(ALICE, TEN));
        await().until(() -> store.calls() == 1);
        CompletableFuture<Decision> second = CompletableFuture.supplyAsync(() -> limiter.decide(ALICE, TEN));
        List<Decision> overloaded = new ArrayList<>();
        await().until(() -> {
            overloaded.add(limiter.decide(LimitRequest.of(BOB, TEN).onFailure(FailurePolicy.OPEN)));
            return overloaded.get(overloaded.size() - 1).outcome() == Outcome.OVERLOADED;
        });

        Decision third = limiter.decide(ALICE, TEN);

        assertThat(third.local()).isTrue();
        // One is at the store, one waits for it; the one at the store is counted.
        assertThat(third.remaining()).isEqualTo(8);
        assertThat(admitted(limiter, ALICE, TEN, 30)).isEqualTo(8);
        held.countDown();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(second.get(10, TimeUnit.SECONDS).allowed()).isFalse();
    }

    /** The one at the store may be granted: so nine are left for those who cannot wait for it. */
    @Test
    void burstThatTheStoreIsTooSlowForAdmitsExactlyTheLimit() throws Exception {
        StoreRateLimiter limiter = limiter(1, Duration.ofMillis(50));
        CountDownLatch held = new CountDownLatch(1);
        store.holdBefore(held);
        List<CompletableFuture<Decision>> burst = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            burst.add(
                    CompletableFuture.supplyAsync(() -> limiter.decide(ALICE, TEN), work -> new Thread(work).start()));
        }
        int admitted = 0;
        for (CompletableFuture<Decision> one : burst) {
            admitted += one.get(20, TimeUnit.SECONDS).allowed() ? 1 : 0;
        }
        held.countDown();

        assertThat(admitted).isEqualTo(10);
        store.holdBefore(new CountDownLatch(0));
        await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
            limiter.decide(BOB, TEN);
            assertThat(leftInStore(ALICE, TEN)).isZero();
        });
        clock.move(HOUR);
        assertThat(leftInStore(ALICE, TEN)).isEqualTo(10);
    }

    @Test
    void requestThatTheStoreGrantsAfterItsDeadlineIsChargedOnce() throws Exception {
        StoreRateLimiter limiter = limiter(1, Duration.ofMillis(50));
        CountDownLatch held = new CountDownLatch(1);
        store.holdAfter(held);

        Decision late = limiter.decide(ALICE, TEN);
        assertThat(late.local()).isTrue();
        assertThat(late.allowed()).isTrue();
        store.holdAfter(new CountDownLatch(0));
        held.countDown();

        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> assertThat(limiter.decide(BOB, TEN).local()).isFalse());
        assertThat(leftInStore(ALICE, TEN)).isEqualTo(9);
        assertThat(limiter.decide(LimitRequest.of(ALICE, TEN)).remaining()).isEqualTo(8);
    }

    @Test
    void lostReplyIsChargedTwiceAndAdmitsNoMore() {
        StoreRateLimiter limiter = limiter();
        store.losesReplies(true);
        Decision inDoubt = limiter.decide(ALICE, TEN);
        assertThat(inDoubt.local()).isTrue();
        store.losesReplies(false);

        assertThat(decidedByTheStore(limiter, ALICE, TEN).remaining()).isEqualTo(7);
    }

    @Test
    void settlingALocalReservationChangesTheDebt() {
        StoreRateLimiter limiter = limiter();
        store.down(true);
        Reservation refunded = limiter.reserve(LimitRequest.of(ALICE, TEN).cost(4));
        Reservation grown = limiter.reserve(LimitRequest.of(ALICE, TEN).cost(2));
        assertThat(refunded.decision().local()).isTrue();

        assertThat(refunded.refund()).isTrue();
        assertThat(grown.settle(3)).isTrue();
        store.down(false);

        assertThat(decidedByTheStore(limiter, ALICE, TEN).remaining()).isEqualTo(10 - 3 - 1);
    }

    @Test
    void localReservationWhoseDebtWasChargedIsSettledInTheStore() {
        StoreRateLimiter limiter = limiter();
        store.down(true);
        Reservation reserved = limiter.reserve(LimitRequest.of(ALICE, TEN).cost(4));
        store.down(false);
        assertThat(decidedByTheStore(limiter, ALICE, TEN).remaining()).isEqualTo(5);

        assertThat(reserved.refund()).isTrue();

        assertThat(leftInStore(ALICE, TEN)).isEqualTo(9);
    }

    @Test
    void localDenialIsNotRemembered() {
        StoreRateLimiter limiter = limiter();
        store.down(true);
        admitted(limiter, ALICE, TEN, 30);
        try (StoreRateLimiter other =
                StoreRateLimiter.builder(memory, Limits.of()).build()) {
            other.reset(LimitRequest.of(ALICE, TEN));
        }
        store.down(false);

        int before = store.calls();
        decidedByTheStore(limiter, ALICE, TEN);
        assertThat(store.calls()).isGreaterThan(before);
    }

    @Test
    void localAnswerFeedsNoLease() {
        Limit leased = Limit.named("leased")
                .algorithm(new FixedWindow(1_000, HOUR))
                .lease(new Lease(100))
                .build();
        StoreRateLimiter limiter = limiter();
        store.down(true);

        assertThat(admitted(limiter, ALICE, leased, 1_200)).isEqualTo(1_000);
    }

    @Test
    void openAndClosedRemain() {
        StoreRateLimiter limiter = limiter();
        store.down(true);

        Decision open = limiter.decide(LimitRequest.of(ALICE, TEN).onFailure(FailurePolicy.OPEN));
        Decision closed = limiter.decide(LimitRequest.of(ALICE, TEN).onFailure(FailurePolicy.CLOSED));

        assertThat(open.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(open.allowed()).isTrue();
        assertThat(closed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(closed.allowed()).isFalse();
        assertThat(admitted(limiter, ALICE, TEN, 30)).isEqualTo(10);
    }

    @Test
    void severalLimitsAreAllOrNothingHereToo() {
        Limit three = Limit.named("three").algorithm(new FixedWindow(3, HOUR)).build();
        StoreRateLimiter limiter = limiter();
        store.down(true);
        LimitRequest both = LimitRequest.of(ALICE, TEN).and(ALICE, three);

        int admitted = 0;
        for (int i = 0; i < 20; i++) {
            admitted += limiter.decide(both).allowed() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(3);
        assertThat(admitted(limiter, ALICE, TEN, 20)).isEqualTo(7);
    }

    @Test
    void penaltiesHoldHereToo() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(2, Duration.ofMinutes(1)))
                .penalty(1, HOUR)
                .build();
        StoreRateLimiter limiter = limiter();
        store.down(true);
        admitted(limiter, ALICE, strict, 3);
        clock.move(Duration.ofMinutes(1));

        Decision blocked = limiter.decide(ALICE, strict);
        assertThat(blocked.outcome()).isEqualTo(Outcome.BLOCKED);
        assertThat(blocked.limits().get(0).violations())
                .as("counted by this instance")
                .isEqualTo(1);
    }

    @Test
    void resetForgetsADebt() {
        StoreRateLimiter limiter = limiter();
        store.down(true);
        admitted(limiter, ALICE, TEN, 6);
        store.down(false);
        decidedByTheStore(limiter, BOB, TEN);

        assertThat(limiter.reset(LimitRequest.of(ALICE, TEN))).isTrue();

        assertThat(limiter.decide(ALICE, TEN).remaining()).isEqualTo(9);
    }
}
