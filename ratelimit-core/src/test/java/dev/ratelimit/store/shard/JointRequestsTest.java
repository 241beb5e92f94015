package dev.ratelimit.store.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.UnreachedStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests over two shards, one of which misbehaves. */
class JointRequestsTest {

    private static final Limit LIMIT = Limit.named("limit")
            .algorithm(new FixedWindow(10, Duration.ofDays(365)))
            .build();

    /** On shard one. */
    private static final Subject ALICE = Subject.user("alice");

    /** On shard two. */
    private static final Subject BOB = Subject.user("bob");

    private final Misbehaving one = new Misbehaving();
    private final Misbehaving two = new Misbehaving();
    private final ShardedLimitStore store =
            new ShardedLimitStore(List.of(new Shard("one", one), new Shard("two", two)), Duration.ofSeconds(10));

    /** A store that fails for some operations, before or after it has decided them. */
    private static final class Misbehaving extends ForwardingLimitStore {

        volatile Predicate<Operation> failsBefore = operation -> false;
        volatile Predicate<Operation> failsAfter = operation -> false;
        volatile CountDownLatch delay = new CountDownLatch(0);
        volatile Kind delayed = Kind.DECIDE;
        volatile Duration pause = Duration.ZERO;
        volatile boolean answersInTime = true;
        final AtomicInteger calls = new AtomicInteger();

        Misbehaving() {
            super(new MemoryLimitStore());
        }

        @Override
        public boolean answersInTime() {
            return answersInTime;
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            calls.incrementAndGet();
            LockSupport.parkNanos(pause.toNanos());
            if (group.stream().anyMatch(failsBefore)) {
                throw new UnreachedStoreException("not reached", new IllegalStateException());
            }
            try {
                if (group.stream().anyMatch(operation -> operation.kind() == delayed)) {
                    delay.await();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            List<Answer> answers = super.decide(group);
            if (group.stream().anyMatch(failsAfter)) {
                throw new LimitStoreException("lost", new IllegalStateException());
            }
            return answers;
        }
    }

    private static Operation both(Kind kind) {
        return new Operation(kind, List.of(new Demand(ALICE, LIMIT, 1), new Demand(BOB, LIMIT, 1)));
    }

    private static long charged(LimitStore store, Subject subject) {
        return LIMIT.capacity()
                - store.decide(new Operation(Kind.PEEK, List.of(new Demand(subject, LIMIT, 1))))
                        .first()
                        .remaining();
    }

    @Test
    void bothSubjectsAreOnTheirShards() {
        assertThat(store.decide(both(Kind.DECIDE)).allowed()).isTrue();

        assertThat(charged(one, ALICE)).isEqualTo(1);
        assertThat(charged(two, BOB)).isEqualTo(1);
        assertThat(charged(one, BOB)).isZero();
    }

    @Test
    void requestIsUndecidedIfAShardIsNotReachedAndNothingStaysCharged() {
        two.failsBefore = operation -> operation.kind() == Kind.DECIDE;

        LimitStoreException failure = failure(List.of(both(Kind.DECIDE)));

        assertThat(failure.parts()).containsExactly(store.part(new Demand(BOB, LIMIT, 1).key()));
        assertThat(charged(one, ALICE)).isZero();
    }

    private LimitStoreException failure(List<Operation> group) {
        return catchThrowableOfType(LimitStoreException.class, () -> store.decide(group));
    }

    /** Whether the lost answer was a charge is not known: it stays, which is the safe side. */
    @Test
    void lostAnswerLeavesAtMostItsOwnCharge() {
        two.failsAfter = operation -> operation.kind() == Kind.DECIDE;

        failure(List.of(both(Kind.DECIDE)));

        assertThat(charged(one, ALICE)).isZero();
        assertThat(charged(two, BOB)).isEqualTo(1);
    }

    @Test
    void answersOfOtherShardsAreKeptIfOneFails() {
        two.failsBefore = operation -> true;
        Operation alice = new Operation(Kind.DECIDE, List.of(new Demand(ALICE, LIMIT, 1)));
        Operation bob = new Operation(Kind.DECIDE, List.of(new Demand(BOB, LIMIT, 1)));

        LimitStoreException failure = failure(List.of(bob, alice, both(Kind.DECIDE), alice));

        assertThat(failure.answers()).extracting(answer -> answer != null).containsExactly(false, true, false, true);
        assertThat(failure.parts()).containsExactly(store.part(new Demand(BOB, LIMIT, 1).key()));
        assertThat(charged(one, ALICE)).isEqualTo(2);
    }

    @Test
    void refundIsTriedAgainWhileItsShardIsNotReached() {
        store.decide(both(Kind.DECIDE)); // from here on, room is known, and both are charged at once
        useUp(two, BOB);
        one.failsBefore = operation -> operation.kind() == Kind.SETTLE;

        Answer denied = store.decide(both(Kind.DECIDE));

        assertThat(denied.verdicts()).extracting(verdict -> verdict.allowed()).containsExactly(true, false);
        assertThat(charged(one, ALICE)).isEqualTo(2);
        one.failsBefore = operation -> false;
        Awaitility.await().untilAsserted(() -> assertThat(charged(one, ALICE)).isEqualTo(1));
    }

    /** A second refund would give back what somebody else was charged. */
    @Test
    void refundWithALostAnswerIsNotMadeAgain() {
        store.decide(both(Kind.DECIDE));
        useUp(two, BOB);
        one.failsAfter = operation -> operation.kind() == Kind.SETTLE;

        store.decide(both(Kind.DECIDE));

        assertThat(charged(one, ALICE)).isEqualTo(1);
        one.failsAfter = operation -> false;
        Awaitility.await()
                .during(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(charged(one, ALICE)).isEqualTo(1));
    }

    /** The shard made it, but nobody knows. */
    @Test
    @Timeout(60)
    void refundThatComesAfterTheDeadlineAndFailsIsNotMadeAgain() {
        ShardedLimitStore hasty =
                new ShardedLimitStore(List.of(new Shard("one", one), new Shard("two", two)), Duration.ofSeconds(1));
        assertThat(hasty.decide(both(Kind.DECIDE)).allowed()).isTrue();
        useUp(two, BOB);
        one.answersInTime = false;
        one.delayed = Kind.SETTLE;
        one.delay = new CountDownLatch(1);
        one.failsAfter = operation -> operation.kind() == Kind.SETTLE;

        assertThat(hasty.decide(both(Kind.DECIDE)).allowed()).isFalse();

        assertThat(charged(one, ALICE)).as("not given back yet").isEqualTo(2);
        one.delay.countDown();
        Awaitility.await().untilAsserted(() -> assertThat(charged(one, ALICE)).isEqualTo(1));
        Awaitility.await()
                .during(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(charged(one, ALICE)).isEqualTo(1));
    }

    private static void useUp(LimitStore store, Subject subject) {
        List<Operation> group = new ArrayList<>();
        for (int i = 0; i < LIMIT.capacity(); i++) {
            group.add(new Operation(Kind.DECIDE, List.of(new Demand(subject, LIMIT, 1))));
        }
        store.decide(group);
    }

    @Test
    void chargeThatComesAfterTheDeadlineIsGivenBack() {
        ShardedLimitStore hasty =
                new ShardedLimitStore(List.of(new Shard("one", one), new Shard("two", two)), Duration.ofSeconds(1));
        two.delay = new CountDownLatch(1);
        LimitStoreException late =
                catchThrowableOfType(LimitStoreException.class, () -> hasty.decide(both(Kind.DECIDE)));

        assertThat(late).hasMessage("shard two missed the deadline");
        Awaitility.await().untilAsserted(() -> assertThat(charged(one, ALICE)).isZero());
        two.delay.countDown();
        Awaitility.await()
                .during(Duration.ofMillis(200))
                .untilAsserted(() -> assertThat(charged(two, BOB)).isZero());
    }

    @Test
    void manyRequestsOnLastPermitsTakeAFewCalls() {
        for (int i = 0; i < 7; i++) {
            store.decide(both(Kind.DECIDE));
        }
        one.calls.set(0);

        List<Answer> answers = store.decide(Collections.nCopies(256, both(Kind.DECIDE)));

        assertThat(answers.stream().map(Answer::allowed).toList())
                .isEqualTo(Stream.concat(Stream.of(true, true, true), Collections.nCopies(253, false).stream())
                        .toList());
        assertThat(charged(one, ALICE)).isEqualTo(10);
        assertThat(charged(two, BOB)).isEqualTo(10);
        assertThat(one.calls).hasValueLessThan(10);
    }

    /** Violations are counted one after another, which takes too long here. Both shards are well. */
    @Test
    void groupThatTakesUntilItsDeadlineBlamesNoShard() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(1, Duration.ofDays(365)))
                .penalty(10_000, Duration.ofDays(1))
                .build();
        Operation both = new Operation(Kind.DECIDE, List.of(new Demand(ALICE, strict, 1), new Demand(BOB, strict, 1)));
        ShardedLimitStore hasty =
                new ShardedLimitStore(List.of(new Shard("one", one), new Shard("two", two)), Duration.ofSeconds(1));
        one.pause = Duration.ofMillis(20);

        LimitStoreException late =
                catchThrowableOfType(LimitStoreException.class, () -> hasty.decide(Collections.nCopies(256, both)));

        assertThat(late)
                .isInstanceOf(LockedKeysException.class)
                .hasMessage("the requests of this group took until the deadline");
        assertThat(late.parts()).isEmpty();
        assertThat(((LockedKeysException) late).keys()).isEmpty();
        assertThat(late.answers())
                .hasSize(256)
                .startsWith(late.answers().get(0))
                .endsWith((Answer) null);
        assertThat(late.answers().get(0)).isNotNull();
        assertThat(one.calls).as("no call after the deadline").hasValueLessThan(100);
    }

    @Test
    void violationCountsOnlyIfNoSubjectIsUnderAPenalty() {
        Limit strict = Limit.named("strict")
                .algorithm(new FixedWindow(1, Duration.ofDays(365)))
                .penalty(2, Duration.ofDays(1))
                .build();
        Operation alice = new Operation(Kind.DECIDE, List.of(new Demand(ALICE, strict, 1)));
        Operation bob = new Operation(Kind.DECIDE, List.of(new Demand(BOB, strict, 1)));
        Operation both = new Operation(Kind.DECIDE, List.of(new Demand(ALICE, strict, 1), new Demand(BOB, strict, 1)));
        store.decide(List.of(alice, alice, alice)); // Alice is under a penalty
        store.decide(List.of(bob));

        for (int i = 0; i < 5; i++) {
            assertThat(store.decide(both).allowed()).isFalse();
        }

        assertThat(store.decide(bob).first().penaltyUntil()).isZero(); // the first violation
        assertThat(store.decide(bob).first().penaltyUntil()).isPositive(); // the second
    }
}
