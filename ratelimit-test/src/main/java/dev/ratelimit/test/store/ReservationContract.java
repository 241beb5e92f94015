package dev.ratelimit.test.store;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charged;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.StoreRateLimiter;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The part of the contract about reservations and charges that are given back. */
abstract class ReservationContract extends RequestContract {

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
}
