package dev.ratelimit.test.store;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.UnknownLimitException;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The part of the contract about requests: several limits, groups, peeks and resets. */
abstract class RequestContract extends AlgorithmContract {

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
}
