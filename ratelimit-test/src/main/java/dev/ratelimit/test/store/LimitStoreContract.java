package dev.ratelimit.test.store;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.UnknownLimitException;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.test.RateLimitClock;
import dev.ratelimit.upkeep.Upkeep;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of every store. Extend it in a test of your store, which opens the store:
 *
 * <pre>{@code
 * class RedisLimitStoreTest extends LimitStoreContract {
 *
 *     @Override
 *     protected LimitStore open(InstantSource clock) {
 *         return new RedisLimitStore(emptyDatabase(), clock);
 *     }
 * }
 * }</pre>
 *
 * Compare it with {@link LimitStoreHistories}, too.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
public abstract class LimitStoreContract {

    protected static final Subject ALICE = Subject.user("alice");
    protected static final Subject BOB = Subject.user("bob");

    private static final Duration MICRO = ofNanos(1_000);

    /** Stands at the start of an hour, so that windows of up to an hour begin with it. */
    protected final RateLimitClock clock = new RateLimitClock(Instant.parse("2026-03-02T10:00:00Z"));

    protected LimitStore store;
    protected RateLimiter limiter;

    /** A new store without any state, on that clock. */
    protected abstract LimitStore open(InstantSource clock) throws Exception;

    /** Whether the store holds state of the subject. */
    protected abstract boolean isStored(String subject) throws Exception;

    /** Product and version that the store's own connections report; the name of its class if it has none. */
    protected String databaseInUse() throws Exception {
        return store.getClass().getSimpleName();
    }

    /** A pattern of what that should be. */
    protected String expectedDatabase() {
        return ".+";
    }

    @BeforeEach
    void openStore() throws Exception {
        store = open(clock);
        limiter = StoreRateLimiter.builder(store, Limits.of()).build();
    }

    @AfterEach
    void closeStore() {
        store.close();
    }

    @Test
    @Order(1)
    void talksToTheDatabaseThatItIsTestedFor() throws Exception {
        assertThat(databaseInUse()).matches(expectedDatabase());
    }

    private static LimitDecision tightest(Decision decision) {
        return Objects.requireNonNull(decision.tightest());
    }

    // The algorithms

    @Test
    void fixedWindowAdmitsItsMaximumInEachWindow() {
        Limit limit =
                Limit.named("login").algorithm(new FixedWindow(5, ofMinutes(1))).build();
        clock.advance(ofSeconds(20));

        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.allowed()).isFalse();
        assertThat(denied.outcome()).isEqualTo(Outcome.THROTTLED);
        assertThat(denied.retryAfter()).isEqualTo(ofSeconds(40));
        assertThat(tightest(denied).resetAt()).isEqualTo(clock.instant().plusSeconds(40));
        assertThat(limiter.decide(BOB, limit).allowed()).isTrue();
        clock.advance(ofSeconds(40));
        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
    }

    @Test
    void calendarWindowEndsWithTheDayOfItsZone() {
        Limit limit = Limit.named("daily")
                .algorithm(new FixedWindow(2, Window.CalendarUnit.DAY, ZoneId.of("Europe/Berlin")))
                .build();
        clock.set(Instant.parse("2026-03-29T12:00:00Z")); // the day of the clock change: 23 hours

        remainders(limit, 2);
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.allowed()).isFalse();
        assertThat(clock.instant().plus(denied.retryAfter())).isEqualTo("2026-03-29T22:00:00Z");
        clock.set(Instant.parse("2026-03-29T22:00:00Z"));
        assertThat(limiter.decide(ALICE, limit).remaining()).isEqualTo(1);
    }

    @Test
    void calendarWindowsOfHourWeekAndMonthEndWhereTheyShould() {
        clock.set(Instant.parse("2026-11-18T10:20:00Z"));
        assertThat(endOfWindow(Window.CalendarUnit.HOUR, "Asia/Kolkata")).isEqualTo("2026-11-18T10:30:00Z");
        assertThat(endOfWindow(Window.CalendarUnit.WEEK, "UTC")).isEqualTo("2026-11-23T00:00:00Z");
        assertThat(endOfWindow(Window.CalendarUnit.MONTH, "America/New_York")).isEqualTo("2026-12-01T05:00:00Z");
    }

    private Instant endOfWindow(Window.CalendarUnit unit, String zone) {
        Limit limit = Limit.named("per-" + unit.keyword())
                .algorithm(new FixedWindow(1, unit, ZoneId.of(zone)))
                .build();
        return tightest(limiter.decide(ALICE, limit)).resetAt();
    }

    @Test
    void slidingWindowWeightsThePreviousWindowByWhatIsLeftOfIt() {
        Limit limit = Limit.named("api")
                .algorithm(new SlidingWindow(10, ofMinutes(1)))
                .build();
        remainders(limit, 10);

        clock.advance(ofMinutes(1));
        assertThat(limiter.decide(ALICE, limit).allowed()).isFalse();
        clock.advance(ofSeconds(30)); // five of the ten still count
        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(6));
    }

    @Test
    void slidingLogAdmitsItsMaximumInAnySpanOfTheWindow() {
        Limit limit =
                Limit.named("log").algorithm(new SlidingLog(3, ofSeconds(10))).build();
        for (int i = 0; i < 3; i++) {
            assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
            clock.advance(ofSeconds(2));
        }

        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(4));
        clock.advance(ofSeconds(4));
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(2));
    }

    @Test
    void tokenBucketStartsFullAndRefillsContinuously() {
        Limit limit = Limit.named("upload")
                .algorithm(new TokenBucket(5, Rate.parse("60/m")))
                .build();

        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
        clock.advance(ofMillis(250));
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.retryAfter()).isEqualTo(ofMillis(750));
        assertThat(denied.retryAfterSeconds()).isEqualTo(1);
        assertThat(tightest(denied).resetAt()).isEqualTo(clock.instant().plusMillis(4_750));
        clock.advance(ofHours(1));
        assertThat(remainders(limit, 5)).containsExactly(4L, 3L, 2L, 1L, 0L);
    }

    @Test
    void leakyBucketAsAMeterDeniesWhatDoesNotFit() {
        Limit limit = Limit.named("meter")
                .algorithm(new LeakyBucket(2, Rate.perSecond(1)))
                .build();

        assertThat(remainders(limit, 2)).containsExactly(1L, 0L);
        Decision denied = limiter.decide(ALICE, limit);

        assertThat(denied.allowed()).isFalse();
        assertThat(denied.delay()).isEqualTo(ZERO);
        assertThat(denied.retryAfter()).isEqualTo(ofSeconds(1));
    }

    @Test
    void leakyBucketAsAQueueTellsHowLongToWaitAndNeverLongerThanMaxWait() {
        Limit limit = Limit.named("queue")
                .algorithm(LeakyBucket.queue(Rate.perSecond(2), ofSeconds(1)))
                .build();
        List<Duration> delays = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Decision decision = limiter.decide(ALICE, limit);
            assertThat(decision.allowed()).isTrue();
            delays.add(decision.delay());
        }

        assertThat(delays).containsExactly(ZERO, ofMillis(500), ofSeconds(1));
        Decision denied = limiter.decide(ALICE, limit);
        assertThat(denied.allowed()).isFalse();
        assertThat(denied.delay()).isEqualTo(ZERO);
        assertThat(denied.retryAfter()).isEqualTo(ofMillis(500));
    }

    @Test
    void minIntervalKeepsAllowedRequestsApart() {
        Limit limit = Limit.named("compose-lock")
                .algorithm(new TokenBucket(2, Rate.perMinute(12)))
                .minInterval(ofSeconds(5))
                .build();

        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        clock.advance(ofSeconds(2));
        assertThat(limiter.decide(ALICE, limit).retryAfter()).isEqualTo(ofSeconds(3));
        clock.advance(ofSeconds(3));
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
    }

    static Stream<Limit> limits() {
        return Stream.of(
                Limit.named("fixed")
                        .algorithm(new FixedWindow(7, ofSeconds(13)))
                        .build(),
                Limit.named("calendar")
                        .algorithm(new FixedWindow(7, Window.CalendarUnit.HOUR, ZoneId.of("Asia/Kathmandu")))
                        .build(),
                Limit.named("sliding")
                        .algorithm(new SlidingWindow(7, ofSeconds(13)))
                        .build(),
                Limit.named("log").algorithm(new SlidingLog(7, ofSeconds(13))).build(),
                Limit.named("token")
                        .algorithm(new TokenBucket(7, Rate.of(3, ofSeconds(7))))
                        .build(),
                Limit.named("leaky")
                        .algorithm(new LeakyBucket(7, Rate.of(3, ofSeconds(7))))
                        .build(),
                Limit.named("queue")
                        .algorithm(LeakyBucket.queue(Rate.of(3, ofSeconds(7)), ofSeconds(14)))
                        .build(),
                Limit.named("spaced")
                        .algorithm(new SlidingLog(7, ofSeconds(13)))
                        .minInterval(ofMillis(1_500))
                        .build());
    }

    @ParameterizedTest
    @MethodSource("limits")
    void deniedRequestConsumesNothing(Limit limit) {
        useUp(limit, 3);
        Decision before = limiter.peek(LimitRequest.of(ALICE, limit).cost(3));

        for (int i = 0; i < 5; i++) {
            assertThat(limiter.decide(LimitRequest.of(ALICE, limit).cost(3)).allowed())
                    .isFalse();
        }

        assertThat(limiter.peek(LimitRequest.of(ALICE, limit).cost(3))).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void clientThatWaitsExactlyRetryAfterIsAdmitted(Limit limit) {
        for (int cost = 1; cost <= 3; cost++) {
            useUp(limit, cost);
            LimitRequest request = LimitRequest.of(ALICE, limit).cost(cost);
            Duration wait = limiter.decide(request).retryAfter();

            clock.advance(wait.minus(MICRO));
            assertThat(limiter.decide(request).retryAfter()).isEqualTo(MICRO);
            clock.advance(MICRO);
            assertThat(limiter.decide(request).allowed()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("limits")
    void limitIsWholeAgainWhenItsResetHasCome(Limit limit) {
        useUp(limit, 1);
        Instant reset = tightest(limiter.peek(LimitRequest.of(ALICE, limit))).resetAt();

        clock.set(reset);

        Decision whole = limiter.peek(LimitRequest.of(ALICE, limit).cost(limit.capacity()));
        assertThat(whole.allowed()).isTrue();
        assertThat(whole.remaining()).isEqualTo(limit.capacity());
        assertThat(tightest(whole).resetAt()).isEqualTo(reset);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void clockThatIsSetBackNeitherFreesNorLocksOut(Limit limit) {
        for (Duration back : List.of(ofMillis(300), ofSeconds(20), ofHours(30))) {
            useUp(limit, 1);
            clock.set(clock.instant().minus(back));

            Decision denied = limiter.decide(ALICE, limit);
            assertThat(denied.allowed()).isFalse();
            // Nobody waits for longer than for two windows, however far the clock went back.
            assertThat(denied.retryAfter()).isLessThanOrEqualTo(ofHours(1));
            clock.advance(denied.retryAfter());
            assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        }
    }

    // Requests

    @Test
    void requestDeniedByItsSecondLimitLeavesTheFirstUnchanged() {
        Limit wide = Limit.named("wide")
                .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                .build();
        Limit narrow = Limit.named("narrow")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .build();
        LimitRequest both = LimitRequest.of(ALICE, wide).cost(4).and(BOB, narrow);

        assertThat(limiter.decide(both).allowed()).isTrue();
        Decision denied = limiter.decide(both);

        assertThat(denied.allowed()).isFalse();
        assertThat(denied.limits()).extracting(LimitDecision::allowed).containsExactly(true, false);
        assertThat(tightest(denied).limit()).isEqualTo(narrow);
        assertThat(limiter.peek(LimitRequest.of(ALICE, wide)).remaining()).isEqualTo(6);
    }

    @Test
    void retryAfterOfSeveralLimitsIsTheLongest() {
        Limit minute = Limit.named("minute")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .build();
        Limit hour =
                Limit.named("hour").algorithm(new FixedWindow(1, ofHours(1))).build();
        LimitRequest both = LimitRequest.of(ALICE, minute).and(ALICE, hour);

        limiter.decide(both);

        assertThat(limiter.decide(both).retryAfter()).isEqualTo(ofHours(1));
    }

    @Test
    void requestsOfAGroupAreDecidedOneAfterAnother() {
        Limit limit =
                Limit.named("group").algorithm(new FixedWindow(5, ofMinutes(1))).build();
        List<Operation> group = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            group.add(new Operation(Kind.DECIDE, List.of(new Demand(ALICE, limit, i == 4 ? 2 : 1))));
        }

        List<Answer> answers = store.decide(group);

        // The fifth asks for two where one is left; the sixth has it.
        assertThat(answers)
                .extracting(Answer::allowed)
                .containsExactly(true, true, true, true, false, true, false, false);
        assertThat(answers)
                .extracting(answer -> answer.verdicts().get(0).remaining())
                .containsExactly(4L, 3L, 2L, 1L, 1L, 0L, 0L, 0L);
    }

    @Test
    void operationsOfAllKindsMayShareAGroup() {
        Limit limit =
                Limit.named("mixed").algorithm(new FixedWindow(2, ofMinutes(1))).build();
        Demand demand = new Demand(ALICE, limit, 1);
        Operation decide = new Operation(Kind.DECIDE, List.of(demand));

        List<Answer> answers = store.decide(List.of(
                decide,
                decide,
                decide,
                new Operation(Kind.PEEK, List.of(demand)),
                new Operation(Kind.RESET, List.of(demand)),
                decide));

        assertThat(answers).extracting(Answer::allowed).containsExactly(true, true, false, false, true, true);
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isEqualTo(1);
    }

    @Test
    void peekConsumesNothing() {
        Limit limit =
                Limit.named("peek").algorithm(new FixedWindow(1, ofMinutes(1))).build();

        for (int i = 0; i < 3; i++) {
            Decision peek = limiter.peek(LimitRequest.of(ALICE, limit));
            assertThat(peek.allowed()).isTrue();
            assertThat(peek.remaining()).isEqualTo(1);
        }
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).allowed()).isFalse();
    }

    @Test
    void resetForgetsCountsAndPenalties() {
        Limit limit = Limit.named("reset")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .penalty(1, ofHours(1))
                .build();
        limiter.decide(ALICE, limit);
        limiter.decide(ALICE, limit);
        assertThat(limiter.decide(ALICE, limit).outcome()).isEqualTo(Outcome.BLOCKED);

        assertThat(limiter.reset(LimitRequest.of(ALICE, limit))).isTrue();

        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
    }

    @Test
    void namedLimitsAreFoundAndOthersAreRefusedByName() {
        Limit api =
                Limit.named("api").algorithm(new FixedWindow(1, ofMinutes(1))).build();
        RateLimiter named = StoreRateLimiter.builder(store, Limits.of(api)).build();

        assertThat(named.decide(ALICE, "api").allowed()).isTrue();
        assertThat(named.decide(ALICE, "api").allowed()).isFalse();
        assertThat(named.peek(ALICE, "api").allowed()).isFalse();
        assertThatThrownBy(() -> named.decide(ALICE, "apx"))
                .isInstanceOf(UnknownLimitException.class)
                .hasMessage("no limit is called 'apx'; the defined limits are api");
    }

    @Test
    void limitGivenForOneCallSharesTheStateOfItsName() {
        Limit usual =
                Limit.named("api").algorithm(new FixedWindow(2, ofMinutes(1))).build();
        Limit generous =
                Limit.named("api").algorithm(new FixedWindow(10, ofMinutes(1))).build();
        RateLimiter named = StoreRateLimiter.builder(store, Limits.of(usual)).build();
        named.decide(ALICE, "api");
        named.decide(ALICE, "api");

        assertThat(named.decide(ALICE, "api").allowed()).isFalse();
        assertThat(named.decide(ALICE, generous).remaining()).isEqualTo(7);
    }

    @Test
    void costAboveWhatTheLimitCanEverGrantIsAMistake() {
        Limit limit = Limit.named("small")
                .algorithm(new TokenBucket(5, Rate.perSecond(1)))
                .build();

        assertThatThrownBy(() -> limiter.decide(LimitRequest.of(ALICE, limit).cost(6)))
                .hasMessage("limit 'small': cost is 6; ask for at most 5, all that this limit can ever grant");
    }

    @Test
    void retryAfterIsNoLessThanItsFloor() {
        Limit limit = Limit.named("floor")
                .algorithm(new TokenBucket(1, Rate.perSecond(10)))
                .build();
        LimitRequest request = LimitRequest.of(ALICE, limit).retryAfterFloor(ofSeconds(1));

        assertThat(limiter.decide(request).retryAfter()).isEqualTo(ZERO);
        assertThat(limiter.decide(request).retryAfter()).isEqualTo(ofSeconds(1));
    }

    // Reservations

    @ParameterizedTest
    @MethodSource("limits")
    void refundedReservationLeavesTheLimitAsItWas(Limit limit) {
        Limit unspaced = Limit.named(limit.name()).algorithm(limit.algorithm()).build();
        limiter.decide(ALICE, unspaced);
        long before = limiter.peek(LimitRequest.of(ALICE, unspaced)).remaining();

        Reservation reservation =
                limiter.reserve(LimitRequest.of(ALICE, unspaced).cost(3));
        assertThat(reservation.decision().remaining()).isEqualTo(before - 3);
        reservation.refund();

        assertThat(limiter.peek(LimitRequest.of(ALICE, unspaced)).remaining()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void chargeThatIsGivenBackLeavesTheLimitAsItWas(Limit limit) {
        long before = limiter.peek(LimitRequest.of(ALICE, limit)).remaining();

        Charged charged = limiter.charge(LimitRequest.of(ALICE, limit));
        assertThat(charged.decision().remaining()).isEqualTo(before - 1);
        assertThat(charged.giveBack()).isTrue();

        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isEqualTo(before);
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
    }

    @Test
    void chargeThatIsGivenBackKeepsNobodyWaitingForTheInterval() {
        Limit limit = Limit.named("apart")
                .algorithm(new TokenBucket(10, Rate.perMinute(60)))
                .minInterval(ofSeconds(5))
                .build();
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        clock.advance(ofSeconds(5));
        Charged charged = limiter.charge(LimitRequest.of(ALICE, limit));
        clock.advance(ofMillis(1));
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).allowed()).isFalse();

        charged.giveBack();

        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).retryAfter()).isEqualTo(ofSeconds(5));
    }

    /** A request that came later keeps its own interval. */
    @Test
    void chargeThatIsGivenBackLateTakesNoOtherIntervalAway() {
        Limit limit = Limit.named("apart")
                .algorithm(new TokenBucket(10, Rate.perMinute(60)))
                .minInterval(ofSeconds(5))
                .build();
        Charged charged = limiter.charge(LimitRequest.of(ALICE, limit));
        clock.advance(ofSeconds(5));
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();

        charged.giveBack();

        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).retryAfter()).isEqualTo(ofSeconds(5));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void reservationIsSettledForWhatItReallyCost(Limit limit) {
        limiter.reserve(LimitRequest.of(ALICE, limit).cost(3)).settle(2);
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isEqualTo(limit.capacity() - 2);

        limiter.reserve(LimitRequest.of(BOB, limit).cost(2)).settle(5);
        assertThat(limiter.peek(LimitRequest.of(BOB, limit)).remaining()).isEqualTo(limit.capacity() - 5);
    }

    @Test
    void refundOfATokenBucketDoesNotGiveWhatHasRefilledMeanwhile() {
        Limit limit = Limit.named("bucket")
                .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                .build();
        Reservation reservation = limiter.reserve(LimitRequest.of(ALICE, limit).cost(5));
        clock.advance(ofSeconds(3));
        limiter.decide(LimitRequest.of(ALICE, limit).cost(8));

        reservation.refund();

        // Without the reservation the bucket would have been full, and held two after the eight were taken.
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isEqualTo(2);
    }

    @Test
    void reservationIsSettledOnce() {
        Limit limit =
                Limit.named("once").algorithm(new FixedWindow(5, ofMinutes(1))).build();
        Reservation reservation = limiter.reserve(LimitRequest.of(ALICE, limit));
        reservation.commit();

        assertThatThrownBy(reservation::refund).isInstanceOf(IllegalStateException.class);
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isEqualTo(4);
    }

    @Test
    void refundOfADeniedReservationDoesNothing() {
        Limit limit = Limit.named("denied")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .build();
        limiter.decide(ALICE, limit);

        Reservation denied = limiter.reserve(LimitRequest.of(ALICE, limit));
        assertThat(denied.decision().allowed()).isFalse();
        denied.refund();

        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isZero();
    }

    @Test
    void refundIntoAWindowThatIsGoneFreesNothing() {
        Limit limit =
                Limit.named("gone").algorithm(new FixedWindow(2, ofMinutes(1))).build();
        Reservation reservation = limiter.reserve(LimitRequest.of(ALICE, limit));
        clock.advance(ofMinutes(1));
        limiter.decide(ALICE, limit);

        reservation.refund();

        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isEqualTo(1);
    }

    @Test
    void chargeOnALimitThatWasRedefinedSinceStaysWhereItIs() {
        Limit perMinute =
                Limit.named("api").algorithm(new FixedWindow(5, ofMinutes(1))).build();
        Limit perHour =
                Limit.named("api").algorithm(new FixedWindow(5, ofHours(1))).build();
        Reservation before = limiter.reserve(LimitRequest.of(ALICE, perMinute).cost(5));
        limiter.reset(LimitRequest.of(ALICE, perMinute));
        remainders(perHour, 5);

        before.refund();

        assertThat(limiter.decide(ALICE, perHour).allowed()).isFalse();
    }

    @Test
    void bucketThatWasMadeLargerIsNotCutByALateRefund() {
        Limit small = Limit.named("api")
                .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                .build();
        Limit large = Limit.named("api")
                .algorithm(new TokenBucket(1_000, Rate.perSecond(1)))
                .build();
        Limit[] current = {small};
        RateLimiter changing = StoreRateLimiter.builder(store, new Limits() {
                    @Override
                    public @Nullable Limit find(String name) {
                        return name.equals("api") ? current[0] : null;
                    }

                    @Override
                    public Set<String> names() {
                        return Set.of("api");
                    }
                })
                .build();
        Reservation before = changing.reserve(ALICE, "api");
        current[0] = large;
        clock.advance(ofHours(1));
        assertThat(changing.decide(ALICE, "api").remaining()).isEqualTo(999);

        before.refund();

        assertThat(changing.peek(ALICE, "api").remaining()).isEqualTo(999);
    }

    // Penalties

    private static Limit api() {
        return Limit.named("api")
                .algorithm(new SlidingWindow(1, ofSeconds(10)))
                .penalty(1, ofMinutes(1))
                .penalty(3, ofMinutes(5))
                .penalty(5, ofMinutes(15))
                .penalty(10, ofHours(1))
                .penalty(20, ofHours(24))
                .forgetAfter(ofHours(24))
                .build();
    }

    /** Uses the limit up, violates it once, and says how long the penalty is. */
    private Duration violate(Limit limit) {
        assertThat(limiter.decide(ALICE, limit).allowed()).isTrue();
        Decision violation = limiter.decide(ALICE, limit);
        assertThat(violation.outcome()).isEqualTo(Outcome.THROTTLED);
        return violation.penaltyUntil() == null ? ZERO : Duration.between(clock.instant(), violation.penaltyUntil());
    }

    @Test
    void repeatedViolationsAreBlockedForLongerAndLonger() {
        List<Duration> penalties = new ArrayList<>();
        for (int violation = 1; violation <= 21; violation++) {
            Duration penalty = violate(api());
            penalties.add(penalty);
            clock.advance(penalty.minus(MICRO));
            assertThat(limiter.decide(ALICE, api()).outcome()).isEqualTo(Outcome.BLOCKED);
            clock.advance(MICRO.plus(penalty.compareTo(ofHours(24)) == 0 ? ZERO : ofSeconds(20)));
        }

        assertThat(penalties.subList(0, 2)).containsOnly(ofMinutes(1));
        assertThat(penalties.subList(2, 4)).containsOnly(ofMinutes(5));
        assertThat(penalties.subList(4, 9)).containsOnly(ofMinutes(15));
        assertThat(penalties.subList(9, 19)).containsOnly(ofHours(1));
        // The twentieth is blocked for a day, and forgotten when the day is over.
        assertThat(penalties.subList(19, 21)).containsExactly(ofHours(24), ofMinutes(1));
    }

    @Test
    void requestsUnderAPenaltyNeitherCountNorExtend() {
        violate(api());
        Instant end = clock.instant().plus(ofMinutes(1));
        for (int i = 0; i < 30; i++) {
            clock.advance(ofSeconds(1));
            Decision blocked = limiter.decide(ALICE, api());
            assertThat(blocked.outcome()).isEqualTo(Outcome.BLOCKED);
            assertThat(blocked.penaltyUntil()).isEqualTo(end);
            assertThat(blocked.retryAfter()).isEqualTo(Duration.between(clock.instant(), end));
            assertThat(blocked.remaining()).isZero();
        }
        clock.set(end);
        assertThat(violate(api())).isEqualTo(ofMinutes(1)); // the second violation, not the thirty-second
    }

    @Test
    void violationsBelowTheFirstTierAreCounted() {
        Limit limit = Limit.named("late")
                .algorithm(new FixedWindow(1, ofSeconds(10)))
                .penalty(3, ofMinutes(5))
                .build();
        assertThat(violate(limit)).isEqualTo(ZERO);
        clock.advance(ofSeconds(10));
        assertThat(violate(limit)).isEqualTo(ZERO);
        clock.advance(ofSeconds(10));
        assertThat(violate(limit)).isEqualTo(ofMinutes(5));
    }

    @Test
    void violationsAreForgottenAfterTheLastOne() {
        for (int i = 0; i < 4; i++) {
            clock.advance(violate(api()).plusSeconds(20));
        }
        clock.advance(ofHours(23));
        assertThat(violate(api())).isEqualTo(ofMinutes(15)); // the fifth
        clock.advance(ofHours(24));
        assertThat(violate(api())).isEqualTo(ofMinutes(1)); // the first
    }

    @Test
    void violationOfOneLimitIsNoViolationOfTheOther() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(1, ofSeconds(10)))
                .penalty(1, ofMinutes(1))
                .build();
        Limit wide = Limit.named("wide")
                .algorithm(new FixedWindow(9, ofSeconds(10)))
                .penalty(1, ofMinutes(1))
                .build();
        LimitRequest both = LimitRequest.of(ALICE, wide).and(ALICE, strict);
        limiter.decide(both);

        assertThat(limiter.decide(both).limits())
                .extracting(one -> one.penaltyUntil() != null)
                .containsExactly(false, true);
        assertThat(limiter.decide(ALICE, wide).allowed()).isTrue();
    }

    @Test
    void waitingForTheEndOfAPenaltyIsEnough() {
        Limit limit = Limit.named("short-penalty")
                .algorithm(new FixedWindow(1, ofHours(1)))
                .penalty(1, ofMinutes(1))
                .build();
        limiter.decide(ALICE, limit);

        Decision violation = limiter.decide(ALICE, limit);

        // The penalty ends before the window does; the client is told the later of the two.
        assertThat(violation.retryAfter()).isEqualTo(ofHours(1));
        clock.advance(ofMinutes(30));
        assertThat(limiter.decide(ALICE, limit).outcome()).isEqualTo(Outcome.THROTTLED);
    }

    // Changed limits

    @Test
    void raisedLimitHelpsAndLoweredLimitHoldsAtOnce() {
        remainders(
                Limit.named("api")
                        .algorithm(new SlidingWindow(10, ofMinutes(1)))
                        .build(),
                10);
        Limit raised = Limit.named("api")
                .algorithm(new SlidingWindow(12, ofMinutes(1)))
                .build();
        Limit lowered =
                Limit.named("api").algorithm(new SlidingWindow(5, ofMinutes(1))).build();

        assertThat(limiter.decide(ALICE, raised).allowed()).isTrue();
        assertThat(limiter.decide(ALICE, lowered).allowed()).isFalse();
    }

    @Test
    void bucketKeepsItsLevelWhenItsNumbersChange() {
        Limit before = Limit.named("api")
                .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                .build();
        Limit faster = Limit.named("api")
                .algorithm(new TokenBucket(20, Rate.parse("7/3s")))
                .build();
        Limit smaller = Limit.named("api")
                .algorithm(new TokenBucket(2, Rate.perMinute(1)))
                .build();
        remainders(before, 6);

        assertThat(limiter.peek(LimitRequest.of(ALICE, faster)).remaining()).isEqualTo(4);
        assertThat(limiter.peek(LimitRequest.of(ALICE, smaller)).remaining()).isEqualTo(2);
        assertThat(limiter.decide(ALICE, faster).remaining()).isEqualTo(3);
        assertThat(limiter.peek(LimitRequest.of(ALICE, before)).remaining()).isEqualTo(3);
    }

    @Test
    void anotherAlgorithmStartsAnewButPenaltiesStay() {
        violate(api());
        Limit other = Limit.named("api")
                .algorithm(new TokenBucket(10, Rate.perSecond(1)))
                .build();

        assertThat(limiter.decide(ALICE, other).outcome()).isEqualTo(Outcome.BLOCKED);
        clock.advance(ofMinutes(1));
        assertThat(limiter.decide(ALICE, other).remaining()).isEqualTo(9);
    }

    // Upkeep

    @ParameterizedTest
    @MethodSource("limits")
    void upkeepDeletesExpiredStateAndNothingElse(Limit limit) {
        useUp(limit, 1);
        LimitRequest request = LimitRequest.of(ALICE, limit);
        Decision before = limiter.peek(request);
        Upkeep upkeep = new Upkeep(store, ZERO);

        assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(0, 0, true));
        assertThat(limiter.peek(request)).isEqualTo(before);

        clock.set(tightest(before).resetAt());
        assertThat(upkeep.run().states()).isZero();
        clock.advance(MICRO);
        assertThat(upkeep.run().states()).isEqualTo(1);
        assertThat(upkeep.run().states()).isZero();
        upkeep.close();
    }

    @Test
    void upkeepLosesNoViolationBeforeItIsForgotten() {
        Upkeep upkeep = new Upkeep(store, ZERO);
        for (int i = 0; i < 4; i++) {
            clock.advance(violate(api()).plusSeconds(20));
            upkeep.run();
        }
        clock.advance(ofHours(23));
        assertThat(upkeep.run().penalties()).isZero();
        assertThat(violate(api())).isEqualTo(ofMinutes(15));

        clock.advance(ofHours(24).plus(MICRO));
        assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(1, 1, true));
        upkeep.close();
    }

    @Test
    @SuppressWarnings("try") // it works by itself
    void upkeepRunsOnItsSchedule() {
        Limit limit = Limit.named("scheduled")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .build();
        limiter.decide(ALICE, limit);
        clock.advance(ofMinutes(2));

        try (Upkeep upkeep = new Upkeep(store, ZERO).every(ofMillis(5))) {
            Awaitility.await().until(() -> !isStored("user:alice"));
        }
    }

    @Test
    void upkeepKeepsExpiredRowsForAsLongAsItIsTold() {
        Limit limit =
                Limit.named("kept").algorithm(new FixedWindow(1, ofMinutes(1))).build();
        limiter.decide(ALICE, limit);
        Upkeep upkeep = new Upkeep(store, ofHours(1));

        clock.advance(ofHours(1));
        assertThat(upkeep.run().states()).isZero();
        clock.advance(ofMinutes(1).plus(MICRO));
        assertThat(upkeep.run().states()).isEqualTo(1);
        upkeep.close();
    }

    @Test
    void upkeepWalksOverAllRowsInSmallSteps() {
        Limit limit =
                Limit.named("many").algorithm(new FixedWindow(1, ofMinutes(1))).build();
        letAsk(3_000, limit);
        clock.advance(ofMinutes(2));
        limiter.decide(ALICE, limit);
        Upkeep upkeep = new Upkeep(store, ZERO);

        assertThat(upkeep.run()).isEqualTo(new Upkeep.Report(3_000, 0, true));
        assertThat(limiter.peek(LimitRequest.of(ALICE, limit)).remaining()).isZero();
        upkeep.close();
    }

    /** So that upkeep knows when to hurry. */
    @Test
    void stepOfUpkeepSaysWhetherManyHadExpired() {
        Limit limit =
                Limit.named("many").algorithm(new FixedWindow(1, ofMinutes(1))).build();
        letAsk(21_000, limit);

        assertThat(store.prune(0)).isEqualTo(new Pruned(0, 0, Progress.MORE));
        clock.advance(ofMinutes(2));
        assertThat(store.prune(0).progress()).isEqualTo(Progress.MANY_EXPIRED);
    }

    /** So many subjects ask once, each for one. */
    private void letAsk(int subjects, Limit limit) {
        List<Operation> group = new ArrayList<>();
        for (int i = 0; i < subjects; i++) {
            group.add(new Operation(Kind.DECIDE, List.of(new Demand(Subject.user("user" + i), limit, 1))));
        }
        store.decide(group);
    }

    /** Decides as often, and says what remained each time; every request must pass. */
    private List<Long> remainders(Limit limit, int requests) {
        List<Long> remaining = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            Decision decision = limiter.decide(ALICE, limit);
            assertThat(decision.allowed()).isTrue();
            remaining.add(decision.remaining());
        }
        return remaining;
    }

    /** Decides until a request of that cost is denied. */
    private void useUp(Limit limit, long cost) {
        LimitRequest request = LimitRequest.of(ALICE, limit).cost(cost);
        for (int i = 0; limiter.decide(request).allowed(); i++) {
            assertThat(i).isLessThan(100);
        }
    }
}
