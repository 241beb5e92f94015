package dev.ratelimit.store.move;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.test.RateLimitClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two stores that know different things: one was used before the move. */
class MovingLimitStoreTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Subject BOB = Subject.user("bob");

    private final RateLimitClock clock = new RateLimitClock(Instant.parse("2026-03-02T10:00:00Z"));

    /** Its clock is ahead, by less than a second. */
    private final RateLimitClock ahead = new RateLimitClock(Instant.parse("2026-03-02T10:00:00.300Z"));

    private final Failing previous = new Failing(new MemoryLimitStore(ahead));
    private final Failing current = new Failing(new MemoryLimitStore(clock));
    private final MovingLimitStore both = new MovingLimitStore(previous, current);

    static Stream<Limit> limits() {
        return Stream.of(
                        new FixedWindow(5, ofMinutes(1)),
                        new SlidingWindow(5, ofMinutes(1)),
                        new SlidingLog(5, ofMinutes(1)),
                        new TokenBucket(5, Rate.perMinute(5)),
                        new LeakyBucket(5, Rate.perMinute(5)))
                .map(algorithm ->
                        Limit.named(algorithm.name()).algorithm(algorithm).build());
    }

    private void advance(Duration time) {
        clock.advance(time);
        ahead.advance(time);
    }

    private static Operation one(Kind kind, Subject subject, Limit limit) {
        return new Operation(kind, List.of(new Demand(subject, limit, 1)));
    }

    private static long remaining(LimitStore store, Subject subject, Limit limit) {
        return store.decide(one(Kind.PEEK, subject, limit)).first().remaining();
    }

    private static boolean isAllowed(LimitStore store, Limit limit) {
        return store.decide(one(Kind.DECIDE, ALICE, limit)).allowed();
    }

    private static int allowed(LimitStore store, Limit limit, int requests) {
        return (int) IntStream.range(0, requests)
                .filter(i -> isAllowed(store, limit))
                .count();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void usedUpBeforeTheMoveIsUsedUpAfterIt(Limit limit) {
        assertThat(allowed(previous, limit, 9)).isEqualTo(5);

        assertThat(isAllowed(both, limit)).isFalse();
        assertThat(remaining(both, ALICE, limit)).isZero();
        assertThat(remaining(current, ALICE, limit))
                .as("charged by a denied request")
                .isEqualTo(5);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void nobodyGetsMoreWhenThePreviousStoreIsLeftAfterOneWindow(Limit limit) {
        assertThat(allowed(previous, limit, 3)).isEqualTo(3);
        assertThat(allowed(both, limit, 9)).isEqualTo(2);
        advance(ofMinutes(2));
        assertThat(allowed(both, limit, 9)).isEqualTo(5);

        assertThat(isAllowed(current, limit)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("limits")
    void settlementIsExactInBothStores(Limit limit) {
        allowed(previous, limit, 1);
        Verdict charged = both.decide(new Demand(ALICE, limit, 3)).first();
        advance(ofSeconds(1));

        both.decide(new Operation(Kind.SETTLE, List.of(new Demand(ALICE, limit, 0, charged.charge()))));

        assertThat(remaining(previous, ALICE, limit)).isEqualTo(4);
        assertThat(remaining(current, ALICE, limit)).isEqualTo(5);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void chargeThatIsNotKnownIsNotGivenBack(Limit limit) {
        Verdict charged = both.decide(new Demand(ALICE, limit, 3)).first();
        MovingLimitStore restarted = new MovingLimitStore(previous, current);

        restarted.decide(new Operation(Kind.SETTLE, List.of(new Demand(ALICE, limit, 1, charged.charge()))));
        assertThat(remaining(previous, ALICE, limit)).isEqualTo(2);
        assertThat(remaining(current, ALICE, limit)).isEqualTo(2);
        restarted.decide(new Operation(Kind.SETTLE, List.of(new Demand(ALICE, limit, 5, charged.charge()))));
        assertThat(remaining(previous, ALICE, limit)).isZero();
        assertThat(remaining(current, ALICE, limit)).isZero();
    }

    /** Memory does not grow without a bound. The limit then grants less, never more. */
    @Test
    void chargeOfLongAgoIsNotGivenBack() {
        Limit limit =
                Limit.named("calls").algorithm(new FixedWindow(5, ofMinutes(1))).build();
        Verdict charged = both.decide(new Demand(ALICE, limit, 3)).first();
        for (int i = 0; i < 65_536; i++) {
            both.decide(new Demand(Subject.user("user" + i), limit, 1));
        }

        both.decide(new Operation(Kind.SETTLE, List.of(new Demand(ALICE, limit, 1, charged.charge()))));

        assertThat(remaining(previous, ALICE, limit)).isEqualTo(2);
        assertThat(remaining(current, ALICE, limit)).isEqualTo(2);
    }

    @Test
    void requestOverSeveralLimitsIsChargedInBothOrInNone() {
        Limit narrow = Limit.named("narrow")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .build();
        Limit wide =
                Limit.named("wide").algorithm(new FixedWindow(9, ofMinutes(1))).build();
        isAllowed(current, narrow);

        Answer answer = both.decide(
                new Operation(Kind.DECIDE, List.of(new Demand(BOB, wide, 1), new Demand(ALICE, narrow, 1))));

        assertThat(answer.allowed()).isFalse();
        assertThat(answer.verdicts()).extracting(Verdict::outcome).containsExactly(Outcome.ALLOWED, Outcome.THROTTLED);
        assertThat(remaining(previous, BOB, wide)).isEqualTo(9);
        assertThat(remaining(previous, ALICE, narrow)).isEqualTo(1);
        assertThat(remaining(current, BOB, wide)).isEqualTo(9);
    }

    @Test
    void violationThatOneStoreSeesCountsInBoth() {
        Limit limit = Limit.named("penalized")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .penalty(2, ofMinutes(5))
                .build();
        isAllowed(previous, limit);

        assertThat(allowed(both, limit, 2)).isZero();

        assertThat(current.decide(one(Kind.PEEK, ALICE, limit)).first().outcome())
                .isEqualTo(Outcome.BLOCKED);
        assertThat(both.decide(one(Kind.PEEK, ALICE, limit)).first().outcome()).isEqualTo(Outcome.BLOCKED);
        both.decide(one(Kind.RESET, ALICE, limit));
        assertThat(isAllowed(previous, limit)).isTrue();
        assertThat(isAllowed(current, limit)).isTrue();
    }

    @Test
    void violationThatOnlyTheCurrentStoreSeesCountsInThePreviousOneToo() {
        Limit limit = Limit.named("penalized")
                .algorithm(new FixedWindow(1, ofMinutes(1)))
                .penalty(2, ofMinutes(5))
                .build();
        isAllowed(current, limit);

        assertThat(allowed(both, limit, 2)).isZero();

        assertThat(previous.decide(one(Kind.PEEK, ALICE, limit)).first().outcome())
                .isEqualTo(Outcome.BLOCKED);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void failureOfEitherStoreIsAFailureAndChargesNothing(Limit limit) {
        previous.fails = true;
        assertThatThrownBy(() -> isAllowed(both, limit))
                .isInstanceOf(LimitStoreException.class)
                .hasMessage("the previous store failed: unplugged");
        assertThat(remaining(current, ALICE, limit)).isEqualTo(5);

        previous.fails = false;
        current.fails = true;
        assertThatThrownBy(() -> isAllowed(both, limit))
                .isInstanceOf(LimitStoreException.class)
                .hasMessage("the current store failed: unplugged");
        assertThat(remaining(previous, ALICE, limit)).isEqualTo(5);
    }

    @ParameterizedTest
    @MethodSource("limits")
    void settlementThatIsTriedAgainGivesBackOnce(Limit limit) {
        isAllowed(both, limit);
        Verdict charged = both.decide(new Demand(ALICE, limit, 2)).first();
        Operation settlement = new Operation(Kind.SETTLE, List.of(new Demand(ALICE, limit, 0, charged.charge())));
        current.fails = true;
        assertThatThrownBy(() -> both.decide(settlement)).isInstanceOf(LimitStoreException.class);
        current.fails = false;

        both.decide(settlement);

        assertThat(remaining(previous, ALICE, limit)).isEqualTo(4);
        assertThat(remaining(current, ALICE, limit)).isEqualTo(4);
    }

    /** While instances are replaced one after another. */
    @ParameterizedTest
    @MethodSource("limits")
    void instancesWithOneStoreAndWithBothAdmitNoMoreThanTheLimit(Limit limit) {
        try (StoreRateLimiter old =
                        StoreRateLimiter.builder(previous, Limits.of()).build();
                StoreRateLimiter moving =
                        StoreRateLimiter.builder(both, Limits.of()).build()) {
            List<RateLimiter> instances = List.of(old, moving);
            AtomicInteger admitted = new AtomicInteger();

            CompletableFuture.allOf(IntStream.range(0, 40)
                            .mapToObj(i -> instances
                                    .get(i % 2)
                                    .decideAsync(LimitRequest.of(ALICE, limit))
                                    .thenAccept(decision -> admitted.addAndGet(decision.allowed() ? 1 : 0)))
                            .toArray(CompletableFuture[]::new))
                    .join();

            assertThat(admitted).hasValue(5);
        }
    }

    /** A store that can be unplugged. */
    private static final class Failing extends ForwardingLimitStore {

        private volatile boolean fails;

        Failing(LimitStore store) {
            super(store);
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            if (fails) {
                throw new LimitStoreException("unplugged", new IllegalStateException());
            }
            return super.decide(group);
        }
    }
}
