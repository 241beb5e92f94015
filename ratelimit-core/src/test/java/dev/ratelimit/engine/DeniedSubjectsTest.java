package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
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
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.TestSeed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class DeniedSubjectsTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Subject BOB = Subject.user("bob");
    private static final Limit FIVE = Limit.named("five")
            .algorithm(new FixedWindow(5, Duration.ofSeconds(30)))
            .build();

    private final SettableClock clock = new SettableClock();
    private final CountingStore store = new CountingStore(clock);
    private final List<Outcome> heard = new ArrayList<>();
    private final StoreRateLimiter limiter = limiter(store, 10);

    private StoreRateLimiter limiter(CountingStore over, int remembered) {
        return StoreRateLimiter.builder(over, Limits.of(FIVE))
                .grouping(Grouping.DEFAULT)
                .listeners(List.of(request -> heard.add(request.outcome())))
                .rememberedDenials(remembered)
                .nanoTime(() -> Micros.of(clock.instant()) * 1000)
                .build();
    }

    private void useUp(Subject subject, Limit limit) {
        while (limiter.decide(subject, limit).allowed()) {
            // until it is denied
        }
    }

    @Test
    void deniedSubjectIsAnsweredWithoutAskingTheStore() {
        useUp(ALICE, FIVE);
        int before = store.asked();
        clock.move(Duration.ofSeconds(10));

        Decision decision = limiter.decide(ALICE, FIVE);

        assertThat(store.asked()).isEqualTo(before);
        assertThat(decision.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(decision.retryAfter()).isEqualTo(Duration.ofSeconds(20));
        assertThat(decision.at()).isEqualTo(clock.instant());
        assertThat(decision.limits()).hasSize(1);
        assertThat(decision.remaining()).isZero();
    }

    @Test
    void storeIsAskedAgainAtTheMomentThatItNamed() {
        useUp(ALICE, FIVE);
        int before = store.asked();
        clock.move(Duration.ofSeconds(30).minusNanos(1000));
        assertThat(limiter.decide(ALICE, FIVE).allowed()).isFalse();
        assertThat(store.asked()).isEqualTo(before);

        clock.move(Duration.ofNanos(1000));

        assertThat(limiter.decide(ALICE, FIVE).allowed()).isTrue();
    }

    @Test
    void storeIsAskedOnceAMinuteHoweverLongTheDenial() {
        Limit daily = Limit.named("daily")
                .algorithm(new FixedWindow(1, Duration.ofDays(1)))
                .build();
        useUp(ALICE, daily);
        int before = store.asked();
        clock.move(Duration.ofMinutes(1));

        limiter.decide(ALICE, daily);
        limiter.decide(ALICE, daily);

        assertThat(store.asked()).isEqualTo(before + 1);
    }

    @Test
    void denialOfALimitWithALeaseIsNotRemembered() {
        Limit leased = Limit.named("leased")
                .algorithm(new FixedWindow(5, Duration.ofSeconds(30)))
                .lease(new Lease(2))
                .build();
        useUp(ALICE, leased);
        int before = store.asked();

        limiter.decide(ALICE, leased);

        assertThat(store.asked()).isEqualTo(before + 1);
    }

    @Test
    void whatIsRememberedOfASubjectIsForgottenOnAllLimits() {
        Limit other = Limit.named("other")
                .algorithm(new FixedWindow(5, Duration.ofSeconds(30)))
                .build();
        useUp(ALICE, FIVE);
        useUp(ALICE, other);
        useUp(BOB, FIVE);
        int before = store.asked();

        limiter.forgetLocally(ALICE);
        limiter.decide(ALICE, FIVE);
        limiter.decide(ALICE, other);
        limiter.decide(BOB, FIVE);

        assertThat(store.asked()).isEqualTo(before + 2);
    }

    @Test
    void othersAreNotDeniedWithIt() {
        useUp(ALICE, FIVE);

        assertThat(limiter.decide(BOB, FIVE).allowed()).isTrue();
    }

    @Test
    void limitWithOtherNumbersIsAskedFor() {
        useUp(ALICE, FIVE);
        Limit six = Limit.named("five")
                .algorithm(new FixedWindow(6, Duration.ofSeconds(30)))
                .build();

        assertThat(limiter.decide(ALICE, six).allowed()).isTrue();
    }

    @Test
    void requestOfAnotherCostIsAskedFor() {
        Limit bucket = Limit.named("bucket")
                .algorithm(new TokenBucket(5, Rate.perSecond(1)))
                .build();
        assertThat(limiter.decide(LimitRequest.of(ALICE, bucket).cost(4)).allowed())
                .isTrue();
        assertThat(limiter.decide(LimitRequest.of(ALICE, bucket).cost(3)).allowed())
                .isFalse();

        assertThat(limiter.decide(ALICE, bucket).allowed()).isTrue();
    }

    @Test
    void resetFreesAtOnce() {
        useUp(ALICE, FIVE);

        limiter.reset(LimitRequest.of(ALICE, FIVE));

        assertThat(limiter.decide(ALICE, FIVE).allowed()).isTrue();
    }

    @Test
    void resetElsewhereFreesWhenThisInstanceIsTold() {
        useUp(ALICE, FIVE);
        limiter(store, 0).reset(LimitRequest.of(ALICE, FIVE));
        assertThat(limiter.decide(ALICE, FIVE).allowed()).isFalse();

        limiter.forgetLocally(ALICE, "five");

        assertThat(limiter.decide(ALICE, FIVE).allowed()).isTrue();
        useUp(ALICE, FIVE);
        limiter(store, 0).reset(LimitRequest.of(ALICE, FIVE));
        limiter.forgetLocally();
        assertThat(limiter.decide(ALICE, FIVE).allowed()).isTrue();
    }

    @Test
    void refundFreesAtOnce() {
        List<Reservation> reservations = new ArrayList<>();
        useUp(BOB, FIVE);
        for (int i = 0; i < 5; i++) {
            reservations.add(limiter.reserve(LimitRequest.of(ALICE, FIVE)));
        }
        assertThat(limiter.decide(ALICE, FIVE).allowed()).isFalse();

        reservations.get(0).refund();

        assertThat(limiter.decide(ALICE, FIVE).allowed()).isTrue();
    }

    /** Elsewhere a charge may have been given back, of which this instance does not hear. */
    @Test
    void denialOfAChargeThatMayBeGivenBackIsRememberedForASecond() {
        LimitRequest request = LimitRequest.of(ALICE, FIVE);
        for (int i = 0; i < 6; i++) {
            limiter.charge(request);
        }
        int before = store.asked();

        clock.move(Duration.ofMillis(999));
        assertThat(limiter.charge(request).decision().allowed()).isFalse();
        assertThat(limiter.decide(request).allowed()).isFalse();
        assertThat(store.asked()).isEqualTo(before);

        clock.move(Duration.ofMillis(1));
        assertThat(limiter.charge(request).decision().allowed()).isFalse();
        assertThat(store.asked()).isEqualTo(before + 1);
    }

    /** The rules say so on every instance. This one need not have made such a charge. */
    @Test
    void denialIsRememberedForASecondIfAnyInstanceMayGiveChargesBack() {
        StoreRateLimiter other = StoreRateLimiter.builder(store, new Limits() {
                    @Override
                    public Limit find(String name) {
                        return FIVE;
                    }

                    @Override
                    public Set<String> names() {
                        return Set.of("five");
                    }

                    @Override
                    public boolean mayBeGivenBack(String name) {
                        return name.equals("five");
                    }
                })
                .build();
        Charged elsewhere = limiter.charge(LimitRequest.of(ALICE, FIVE));
        while (other.decide(ALICE, FIVE).allowed()) {
            // until it is denied
        }
        elsewhere.giveBack();

        clock.move(Duration.ofMillis(999));
        assertThat(other.decide(ALICE, FIVE).allowed()).isFalse();
        clock.move(Duration.ofMillis(1));
        assertThat(other.decide(ALICE, FIVE).allowed()).isTrue();
    }

    @Test
    void chargeThatIsGivenBackFreesAtOnce() {
        LimitRequest request = LimitRequest.of(ALICE, FIVE);
        Charged first = limiter.charge(request);
        for (int i = 0; i < 5; i++) {
            limiter.charge(request);
        }
        assertThat(limiter.decide(request).allowed()).isFalse();

        first.giveBack();

        assertThat(limiter.decide(request).allowed()).isTrue();
    }

    @Test
    void denialIsKnownWithoutAskingTheStoreEvenIfDenialsAreNotRepeated() {
        StoreRateLimiter unrepeating = limiter(store, 0);
        LimitRequest request = LimitRequest.of(ALICE, FIVE);
        assertThat(unrepeating.remembered(request)).isNull();
        for (int i = 0; i < 6; i++) {
            unrepeating.decide(request);
        }
        int before = store.asked();

        assertThat(unrepeating.remembered(request))
                .isNotNull()
                .satisfies(denial -> assertThat(denial.allowed()).isFalse());
        assertThat(store.asked()).isEqualTo(before);
        unrepeating.decide(request);
        assertThat(store.asked()).as("denials are not repeated").isEqualTo(before + 1);
    }

    @Test
    void answerThatWasUnderWayDuringAResetIsNotRemembered() {
        for (int i = 0; i < 5; i++) {
            limiter.decide(ALICE, FIVE);
        }
        store.afterDeciding(() -> {
            store.afterDeciding(() -> {});
            limiter(store, 0).reset(LimitRequest.of(ALICE, FIVE));
            limiter.forgetLocally(ALICE, "five");
        });
        assertThat(limiter.decide(ALICE, FIVE).allowed()).isFalse();

        assertThat(limiter.decide(ALICE, FIVE).allowed()).isTrue();
    }

    @Test
    void listenersHearOfEveryDenial() {
        useUp(ALICE, FIVE);
        heard.clear();

        limiter.decide(ALICE, FIVE);
        limiter.decide(ALICE, FIVE);

        assertThat(heard).containsExactly(Outcome.THROTTLED, Outcome.THROTTLED);
    }

    @Test
    void noMoreAreRememberedThanAllowed() {
        for (int i = 0; i < 20; i++) {
            useUp(Subject.user("user" + i), FIVE);
        }
        int before = store.asked();
        for (int i = 0; i < 20; i++) {
            assertThat(limiter.decide(Subject.user("user" + i), FIVE).allowed()).isFalse();
        }
        assertThat(store.asked() - before).isEqualTo(10);
    }

    @Test
    void deniedRequestOverSeveralLimitsShowsTheOneThatDenies() {
        Limit other = Limit.named("other")
                .algorithm(new FixedWindow(9, Duration.ofSeconds(30)))
                .build();
        useUp(ALICE, FIVE);
        int before = store.asked();

        Decision decision = limiter.decide(LimitRequest.of(BOB, other).and(ALICE, FIVE));

        assertThat(store.asked()).isEqualTo(before);
        assertThat(decision.allowed()).isFalse();
        assertThat(decision.limits()).extracting(LimitDecision::limit).containsExactly(FIVE);
        assertThat(limiter.peek(LimitRequest.of(BOB, other)).remaining()).isEqualTo(9);
    }

    /** Two limiters see the same requests; only one remembers. Penalties escalate alike, and each answer is the same. */
    @Test
    void everyAnswerIsTheSameAsWithoutRemembering() {
        TestSeed seed = TestSeed.of("DeniedSubjectsTest");
        List<Limit> limits = List.of(
                FIVE,
                Limit.named("bucket")
                        .algorithm(new TokenBucket(3, Rate.perSecond(1)))
                        .build(),
                Limit.named("sliding")
                        .algorithm(new SlidingWindow(4, Duration.ofSeconds(7)))
                        .build(),
                Limit.named("log")
                        .algorithm(new SlidingLog(4, Duration.ofSeconds(7)))
                        .build(),
                Limit.named("leaky")
                        .algorithm(new LeakyBucket(3, Rate.perSecond(2)))
                        .build(),
                Limit.named("spaced")
                        .algorithm(new TokenBucket(3, Rate.perSecond(1)))
                        .minInterval(Duration.ofMillis(300))
                        .build(),
                Limit.named("penal")
                        .algorithm(new FixedWindow(2, Duration.ofSeconds(5)))
                        .penalty(2, Duration.ofSeconds(4))
                        .penalty(4, Duration.ofSeconds(9))
                        .forgetAfter(Duration.ofSeconds(40))
                        .build());
        for (int history = 0; history < 40; history++) {
            RandomGenerator random = seed.history(history);
            CountingStore plain = new CountingStore(clock);
            CountingStore remembered = new CountingStore(clock);
            try (StoreRateLimiter without = limiter(plain, 0);
                    StoreRateLimiter with = limiter(remembered, 100)) {
                for (int i = 0; i < 500; i++) {
                    clock.move(Duration.ofMillis(random.nextInt(200)).plusNanos(random.nextInt(1000) * 1000L));
                    LimitRequest request = LimitRequest.of(
                            random.nextBoolean() ? ALICE : BOB, limits.get(random.nextInt(limits.size())));
                    if (random.nextInt(3) == 0) {
                        request = request.and(Subject.ip("192.0.2.1"), limits.get(random.nextInt(limits.size())));
                    }
                    if (random.nextInt(100) == 0) {
                        without.reset(request);
                        with.reset(request);
                    }
                    requireSame(seed + ", step " + i, with.decide(request), without.decide(request));
                }
            }
            assertThat(remembered.asked()).isLessThan(plain.asked());
        }
    }

    private static void requireSame(String where, Decision actual, Decision expected) {
        assertThat(actual.allowed()).as(where).isEqualTo(expected.allowed());
        for (LimitDecision one : actual.limits()) {
            assertThat(expected.limits()).as(where).contains(one);
        }
        if (actual.limits().size() == expected.limits().size()) {
            assertThat(actual).as(where).isEqualTo(expected);
        }
    }
}
