package dev.ratelimit.test.store;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.store.Pruned.Progress;
import dev.ratelimit.upkeep.Upkeep;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
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
 *
 *     @Override
 *     protected boolean isStored(String subject) {
 *         return database.hasKeysOf(subject);
 *     }
 * }
 * }</pre>
 *
 * Its parts are inherited one from another, so that one class holds a store to all of them. Compare it with
 * {@link LimitStoreHistories}, too.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
public abstract class LimitStoreContract extends PenaltyContract {

    @Test
    @Order(1)
    void talksToTheDatabaseThatItIsTestedFor() throws Exception {
        assertThat(databaseInUse()).matches(expectedDatabase());
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

    /** Upkeep must know when to hurry. */
    @Test
    void stepOfUpkeepSaysWhetherManyHadExpired() {
        Limit limit =
                Limit.named("many").algorithm(new FixedWindow(1, ofMinutes(1))).build();
        letAsk(21_000, limit);

        assertThat(store.prune(0)).isEqualTo(new Pruned(0, 0, Progress.MORE));
        clock.advance(ofMinutes(2));
        assertThat(store.prune(0).progress()).isEqualTo(Progress.MANY_EXPIRED);
    }

    /** Lets that number of subjects ask once, each for one. */
    private void letAsk(int subjects, Limit limit) {
        List<Operation> group = new ArrayList<>();
        for (int i = 0; i < subjects; i++) {
            group.add(new Operation(Kind.DECIDE, List.of(new Demand(Subject.user("user" + i), limit, 1))));
        }
        store.decide(group);
    }
}
