package dev.ratelimit.store.shard;

import static dev.ratelimit.store.shard.TestShards.ASLEEP;
import static dev.ratelimit.store.shard.TestShards.AWAKE;
import static dev.ratelimit.store.shard.TestShards.admitted;
import static dev.ratelimit.store.shard.TestShards.atMost;
import static dev.ratelimit.store.shard.TestShards.charged;
import static dev.ratelimit.store.shard.TestShards.isAllowed;
import static dev.ratelimit.store.shard.TestShards.operation;
import static dev.ratelimit.store.shard.TestShards.users;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.store.postgresql.shard.PostgresShardTables;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A shard is added: subjects move to it with all that was counted. */
@Timeout(120)
class NewShardTest {

    private static final Limit LIMIT = atMost("calls", 3);
    private static final List<Subject> USERS = users(60);
    private static final Limit STRICT = Limit.named("strict")
            .algorithm(new FixedWindow(1, Duration.ofDays(3650)))
            .penalty(2, Duration.ofDays(1))
            .build();

    private final TestShards shards = new TestShards();

    /** The users that move to the new shard. */
    private static List<Subject> movingToC() {
        Rendezvous list = new Rendezvous(List.of("a", "b", "c"));
        return USERS.stream().filter(user -> list.of(user.text()) == 2).toList();
    }

    private void useUp() {
        try (ShardedLimitStore two = shards.open(ASLEEP, "a", "b")) {
            for (Subject user : USERS) {
                assertThat(admitted(two, user, LIMIT, 5)).isEqualTo(3);
            }
        }
    }

    @Test
    void nobodyGetsAFreshLimit() throws Exception {
        useUp();

        try (ShardedLimitStore three = shards.open(ASLEEP, "a", "b", "c")) {
            for (Subject user : USERS) {
                assertThat(charged(three, user, LIMIT)).isEqualTo(3);
                assertThat(isAllowed(three, user, LIMIT)).isFalse();
            }
        }
        assertThat(movingToC()).hasSizeGreaterThan(5);
        assertThat(shards.count("c", "algorithm = 'fixed-window'"))
                .isEqualTo(movingToC().size());
        assertThat(shards.count("a", "algorithm = 'moved:2:'") + shards.count("b", "algorithm = 'moved:2:'"))
                .as("marks, empty since the state has arrived")
                .isEqualTo(movingToC().size());
    }

    @Test
    void penaltiesAndViolationsMoveToo() {
        List<Subject> moving = movingToC();
        Subject once = moving.get(0);
        Subject twice = moving.get(1);
        try (ShardedLimitStore two = shards.open(ASLEEP, "a", "b")) {
            admitted(two, once, STRICT, 2);
            admitted(two, twice, STRICT, 3);
        }

        try (ShardedLimitStore three = shards.open(ASLEEP, "a", "b", "c")) {
            assertThat(three.decide(operation(Kind.DECIDE, twice, STRICT))
                            .first()
                            .outcome())
                    .isEqualTo(Outcome.BLOCKED);
            assertThat(three.decide(operation(Kind.DECIDE, once, STRICT))
                            .first()
                            .penaltyUntil())
                    .as("the second violation")
                    .isPositive();
        }
    }

    @Test
    void instanceWithTheOldListCannotChargeMovedSubjects() {
        try (ShardedLimitStore old = shards.open(ASLEEP, "a", "b");
                ShardedLimitStore longer = shards.open(ASLEEP, "a", "b", "c")) {
            Subject moved = movingToC().get(0);
            Subject other = USERS.stream()
                    .filter(user -> !movingToC().contains(user))
                    .findFirst()
                    .orElseThrow();
            assertThat(isAllowed(old, moved, LIMIT)).isTrue(); // it does not know the list yet, and nobody has moved it
            assertThat(isAllowed(longer, moved, LIMIT)).isTrue();

            for (Kind kind : Kind.values()) {
                if (kind != Kind.SETTLE) {
                    assertThatThrownBy(() -> old.decide(operation(kind, moved, LIMIT)))
                            .isInstanceOf(LimitStoreException.class)
                            .hasMessageContaining("has moved to a shard that this instance does not know");
                }
            }

            assertThat(charged(longer, moved, LIMIT)).isEqualTo(2);
            assertThat(isAllowed(old, other, LIMIT)).isTrue();
            assertThat(isAllowed(longer, other, LIMIT)).isTrue();
            assertThat(charged(old, other, LIMIT)).isEqualTo(2);
        }
    }

    @Test
    void instanceThatSwapsCannotChargeMovedSubjectsEither() {
        useUp();
        try (ShardedLimitStore old = shards.openSwapping(ASLEEP, "a", "b");
                ShardedLimitStore longer = shards.openSwapping(ASLEEP, "a", "b", "c")) {
            for (Subject user : USERS) {
                assertThat(isAllowed(longer, user, LIMIT)).isFalse();
            }
            for (Subject user : movingToC()) {
                assertThatThrownBy(() -> old.decide(operation(Kind.DECIDE, user, LIMIT)))
                        .isInstanceOf(LimitStoreException.class)
                        .hasMessageContaining("has moved to a shard that this instance does not know");
            }
        }
    }

    @Test
    void instanceThatKnowsTheNewShardFollowsAtOnce() {
        try (ShardedLimitStore first = shards.open(ASLEEP, "a", "b", "c")) {
            assertThat(isAllowed(first, USERS.get(0), LIMIT)).isTrue();
        }
        try (ShardedLimitStore early = shards.open(ASLEEP, "a", "b", "c", "d");
                ShardedLimitStore late = shards.open(ASLEEP, "a", "b", "c", "d")) {
            for (Subject user : USERS) {
                admitted(early, user, LIMIT, 2);
                admitted(late, user, LIMIT, 2);
                assertThat(charged(early, user, LIMIT)).isEqualTo(3);
            }
        }
    }

    /** The instance that has marked a key may stop before the state has arrived. */
    @Test
    void stateIsNotLostIfTheInstanceThatMovesItStops() {
        useUp();
        List<StateKey> keys = movingToC().stream()
                .map(user -> StateKey.of(user, LIMIT.name()))
                .toList();
        shards.open(ASLEEP, "a", "b", "c").close();
        Rendezvous before = new Rendezvous(List.of("a", "b"));
        for (StateKey key : keys) {
            shards.tables(before.of(key.subject()) == 0 ? "a" : "b").leave(List.of(key), 2, false);
        }

        try (ShardedLimitStore three = shards.open(ASLEEP, "a", "b", "c")) {
            for (Subject user : movingToC()) {
                assertThat(isAllowed(three, user, LIMIT)).isFalse();
            }
        }
    }

    /** State leaves the old shards, but the new one cannot take it. */
    @Test
    void stateThatCouldNotArriveIsBroughtAfterTheGrace() {
        useUp();
        Subject once = movingToC().get(0);
        Subject twice = movingToC().get(1);
        try (ShardedLimitStore two = shards.open(ASLEEP, "a", "b")) {
            admitted(two, once, STRICT, 2);
            admitted(two, twice, STRICT, 3);
        }
        SwitchedTables failing = new SwitchedTables(shards.tables("c"));
        failing.refusesArrivals(true);
        try (ShardedLimitStore three =
                shards.open(AWAKE, (name, tables) -> name.equals("c") ? failing : tables, "a", "b", "c")) {
            // Both old shards are swept every 20 ms, so this takes longer than the grace of 200 ms.
            Awaitility.await().until(() -> failing.refused() > 40);
            assertThat(three.answersInTime()).as("nothing moves any more").isFalse();
            assertThatThrownBy(() -> isAllowed(three, twice, STRICT)).isInstanceOf(LimitStoreException.class);

            failing.refusesArrivals(false);

            Awaitility.await().until(three::answersInTime);
            for (Subject user : USERS) {
                assertThat(isAllowed(three, user, LIMIT)).as("a fresh limit").isFalse();
            }
            assertThat(three.decide(operation(Kind.DECIDE, twice, STRICT))
                            .first()
                            .outcome())
                    .isEqualTo(Outcome.BLOCKED);
            assertThat(three.decide(operation(Kind.DECIDE, once, STRICT))
                            .first()
                            .penaltyUntil())
                    .as("the second violation")
                    .isPositive();
        }
    }

    /** The rows of the states have expired and were deleted; violations are kept for longer. */
    @Test
    void violationsWithoutAStateAreBroughtAfterTheGraceToo() throws Exception {
        Subject once = movingToC().get(0);
        try (ShardedLimitStore two = shards.open(ASLEEP, "a", "b")) {
            admitted(two, once, STRICT, 2);
        }
        for (String name : List.of("a", "b")) {
            shards.execute(name, "DELETE FROM ratelimit.rate_limits");
        }
        SwitchedTables failing = new SwitchedTables(shards.tables("c"));
        failing.refusesArrivals(true);
        try (ShardedLimitStore three =
                shards.open(AWAKE, (name, tables) -> name.equals("c") ? failing : tables, "a", "b", "c")) {
            Awaitility.await().until(() -> failing.refused() > 40);
            failing.refusesArrivals(false);
            Awaitility.await().until(three::answersInTime);

            assertThat(isAllowed(three, once, STRICT)).isTrue();
            assertThat(three.decide(operation(Kind.DECIDE, once, STRICT))
                            .first()
                            .penaltyUntil())
                    .as("the second violation")
                    .isPositive();
        }
    }

    /** Another instance is between both steps. */
    @Test
    void shardWhoseMarksKeepStateIsNotSaidToBeEmpty() {
        useUp();
        shards.open(ASLEEP, "a", "b", "c").close();
        Rendezvous before = new Rendezvous(List.of("a", "b"));
        Subject moved = movingToC().get(0);
        PostgresShardTables old = shards.tables(before.of(moved.text()) == 0 ? "a" : "b");
        List<StateKey> key = List.of(StateKey.of(moved, LIMIT.name()));
        List<ShardTables.Leaving> onTheWay = old.leave(key, 2, false);

        old.allMoved(2);
        assertThat(old.read().get(1).moved()).isFalse();

        shards.tables("c").arrive(onTheWay);
        old.leave(key, 2, true);
        old.allMoved(2);
        assertThat(old.read().get(1).moved()).isTrue();
    }

    private Operation reset(Subject user) {
        return operation(Kind.RESET, user, LIMIT);
    }

    /** An instance with the old list, which cannot read the new one. */
    private void assertFailsAlone(ShardedLimitStore old, List<SwitchedTables> tables, ShardedLimitStore longer) {
        Subject moved = movingToC().get(0);
        Rendezvous before = new Rendezvous(List.of("a", "b"));
        List<Subject> others = USERS.stream()
                .filter(user -> !movingToC().contains(user) && before.of(user.text()) == before.of(moved.text()))
                .limit(2)
                .toList();
        assertThat(isAllowed(longer, moved, LIMIT)).isFalse();
        tables.forEach(one -> one.refusesToBeRead(true));

        assertThatThrownBy(() -> old.decide(List.of(
                        operation(Kind.DECIDE, others.get(0), LIMIT),
                        operation(Kind.DECIDE, moved, LIMIT),
                        reset(others.get(1)))))
                .isInstanceOfSatisfying(LimitStoreException.class, e -> {
                    assertThat(e).hasMessageContaining("has moved to another shard");
                    assertThat(e.parts()).as("shards to blame").isEmpty();
                    assertThat(e.answers().stream().map(answer -> answer == null ? null : answer.allowed()))
                            .containsExactly(false, null, true);
                });
        assertThat(charged(old, others.get(1), LIMIT)).isZero();
    }

    @Test
    void movedSubjectFailsNobodyElseOfItsGroup() {
        useUp();
        List<SwitchedTables> tables = new ArrayList<>();
        try (ShardedLimitStore old = shards.open(ASLEEP, switched(tables), "a", "b");
                ShardedLimitStore longer = shards.open(ASLEEP, "a", "b", "c")) {
            assertFailsAlone(old, tables, longer);
        }
    }

    @Test
    void movedSubjectFailsNobodyElseOfItsGroupOfSwaps() {
        useUp();
        List<SwitchedTables> tables = new ArrayList<>();
        try (ShardedLimitStore old = shards.openSwapping(ASLEEP, switched(tables), "a", "b");
                ShardedLimitStore longer = shards.openSwapping(ASLEEP, "a", "b", "c")) {
            assertFailsAlone(old, tables, longer);
        }
    }

    private static BiFunction<String, ShardTables, ShardTables> switched(List<SwitchedTables> into) {
        return (name, tables) -> {
            SwitchedTables made = new SwitchedTables(tables);
            into.add(made);
            return made;
        };
    }

    @Test
    void countThatWasResetDoesNotComeBack() {
        useUp();
        Subject moved = movingToC().get(0);
        try (ShardedLimitStore one = shards.open(ASLEEP, "a", "b", "c");
                ShardedLimitStore other = shards.open(ASLEEP, "a", "b", "c")) {
            assertThat(isAllowed(one, moved, LIMIT)).isFalse();

            one.decide(operation(Kind.RESET, moved, LIMIT));

            assertThat(charged(other, moved, LIMIT)).isZero();
            assertThat(isAllowed(other, moved, LIMIT)).isTrue();
            assertThat(charged(one, moved, LIMIT)).isEqualTo(1);
        }
    }

    /** Also of subjects that nobody asks for. From then on, old shards are not asked any more. */
    @Test
    void allStateMovesInTheBackground() throws Exception {
        useUp();

        try (ShardedLimitStore three = shards.open(AWAKE, "a", "b", "c")) {
            Awaitility.await()
                    .untilAsserted(() -> assertThat(three.answersInTime()).isTrue());
            assertThat(shards.count("c", "algorithm = 'fixed-window'"))
                    .isEqualTo(movingToC().size());
            for (Subject user : USERS) {
                assertThat(isAllowed(three, user, LIMIT)).isFalse();
            }
        }
        try (ShardedLimitStore later = shards.open(ASLEEP, "a", "b", "c")) {
            assertThat(later.answersInTime()).as("nothing moves any more").isTrue();
        }
        assertThat(shards.tables("a").read())
                .extracting(ShardTables.Recorded::moved)
                .containsExactly(true, true);
    }

    @Test
    void onlyDatabaseWithStateIsWhereSubjectsMoveFrom() {
        LimitStore alone = shards.store("a");
        for (Subject user : USERS) {
            assertThat(admitted(alone, user, LIMIT, 5)).isEqualTo(3);
        }

        try (ShardedLimitStore two = shards.open(ASLEEP, "a", "b")) {
            for (Subject user : USERS) {
                assertThat(isAllowed(two, user, LIMIT)).isFalse();
            }
        }
        assertThat(shards.tables("b").read())
                .extracting(ShardTables.Recorded::names)
                .containsExactly(List.of("a"), List.of("a", "b"));
    }

    /** Old and new instances ask at the same time, before, while and after the new ones come. */
    @Test
    void nothingIsAdmittedTwiceWhileAShardIsAdded() throws Exception {
        Limit many = atMost("many", 40);
        List<Subject> users = USERS.subList(0, 30);
        Map<Subject, AtomicInteger> admitted = new ConcurrentHashMap<>();
        users.forEach(user -> admitted.put(user, new AtomicInteger()));
        AtomicBoolean done = new AtomicBoolean();
        CountDownLatch underWay = new CountDownLatch(4);
        try (ShardedLimitStore old = shards.open(AWAKE, "a", "b");
                ShardedLimitStore asleep = shards.open(ASLEEP, "a", "b")) {
            List<CompletableFuture<Void>> load = new ArrayList<>();
            for (LimitStore store : List.of(old, asleep, old, asleep)) {
                load.add(CompletableFuture.runAsync(() -> {
                    while (!done.get()) {
                        users.forEach(user -> admitted.get(user).addAndGet(TestShards.admitted(store, user, many, 1)));
                        underWay.countDown();
                    }
                }));
            }
            underWay.await();
            try (ShardedLimitStore one = shards.open(AWAKE, "a", "b", "c");
                    ShardedLimitStore two = shards.open(AWAKE, "a", "b", "c")) {
                for (LimitStore store : List.of(one, two)) {
                    load.add(CompletableFuture.runAsync(() -> {
                        for (int i = 0; i < 45; i++) {
                            users.forEach(
                                    user -> admitted.get(user).addAndGet(TestShards.admitted(store, user, many, 1)));
                        }
                    }));
                }
                load.get(4).join();
                load.get(5).join();
                done.set(true);
                load.forEach(CompletableFuture::join);

                users.forEach(user -> {
                    assertThat(admitted.get(user)).as("admitted for %s", user).hasValue(40);
                    assertThat(charged(one, user, many)).isEqualTo(40);
                });
            }
        }
    }

    /** Its permits were charged where the subject was, and the charge moves along. */
    @Test
    void permitsLeasedBeforeTheMoveAreWithinTheLimit() {
        Limit leased = Limit.named("leased")
                .algorithm(new FixedWindow(100, Duration.ofDays(3650)))
                .lease(new Lease(40))
                .build();
        Subject moved = movingToC().get(0);
        try (ShardedLimitStore old = shards.open(ASLEEP, "a", "b");
                StoreRateLimiter holder = StoreRateLimiter.builder(old, Limits.of(leased))
                        .grouping(Grouping.DEFAULT.withDeadline(TestShards.LONG))
                        .build()) {
            int admitted = 0;
            for (int i = 0; i < 5; i++) {
                admitted += admit(holder, moved, leased);
            }
            Awaitility.await()
                    .untilAsserted(() -> assertThat(charged(old, moved, leased))
                            .as("served and leased")
                            .isGreaterThan(5));
            try (ShardedLimitStore longer = shards.open(ASLEEP, "a", "b", "c")) {
                assertThat(charged(longer, moved, leased))
                        .as("served and leased")
                        .isGreaterThan(5);
                for (int i = 0; i < 120; i++) {
                    admitted += admit(holder, moved, leased) + (isAllowed(longer, moved, leased) ? 1 : 0);
                }

                assertThat(charged(longer, moved, leased)).isEqualTo(100);
                assertThat(admitted).isBetween(60, 100);
            }
        }
    }

    private static int admit(StoreRateLimiter limiter, Subject subject, Limit limit) {
        return limiter.decide(LimitRequest.of(subject, limit).onFailure(FailurePolicy.CLOSED))
                        .allowed()
                ? 1
                : 0;
    }

    /** Unused permits of a lease, and refunds of reservations, are put back where the subject is now. */
    @Test
    void chargeFromBeforeTheMoveIsGivenBackOnTheNewShard() {
        Subject moved = movingToC().get(0);
        try (ShardedLimitStore old = shards.open(ASLEEP, "a", "b")) {
            Charge charge =
                    old.decide(operation(Kind.DECIDE, moved, LIMIT)).first().charge();
            assertThat(isAllowed(old, moved, LIMIT)).isTrue();
            Operation refund = new Operation(
                    Kind.SETTLE, List.of(new Demand(moved, LIMIT, StateKey.of(moved, LIMIT.name()), 0, charge, null)));
            try (ShardedLimitStore longer = shards.open(ASLEEP, "a", "b", "c")) {
                longer.decide(refund);

                assertThat(charged(longer, moved, LIMIT)).isEqualTo(1);
                assertThatThrownBy(() -> old.decide(refund))
                        .as("an instance that does not know the shard leaves the charge")
                        .isInstanceOf(LimitStoreException.class);
                assertThat(charged(longer, moved, LIMIT)).isEqualTo(1);
            }
        }
    }

    @Test
    void shardCannotBeLeftOut() {
        shards.open(ASLEEP, "a", "b").close();

        assertThatThrownBy(() -> shards.open(ASLEEP, "a"))
                .isInstanceOf(InvalidShardsException.class)
                .hasMessage(
                        "invalid shards; put shard 'b' back, which has the counts of its subjects: the databases have"
                                + " the shards [a, b] since version 1");
    }

    /** As docs/how-to/shards.md says for a shard that is lost for good. Some of its subjects had moved there a moment before. */
    @Test
    void onlySubjectsOfALostShardStartAnew() throws Exception {
        useUp();
        try (ShardedLimitStore three = shards.open(ASLEEP, "a", "b", "c")) {
            for (Subject user : USERS) {
                assertThat(isAllowed(three, user, LIMIT)).isFalse();
            }
        }
        String remedy = Files.readString(Path.of("..", "examples/guides/src/main/resources/lost-shard.sql"));
        shards.execute("a", remedy);
        shards.execute("b", remedy);

        try (ShardedLimitStore rest = shards.open(ASLEEP, "a", "b")) {
            for (Subject user : USERS) {
                assertThat(isAllowed(rest, user, LIMIT))
                        .as("%s", user)
                        .isEqualTo(movingToC().contains(user));
            }
        }
    }

    @Test
    void databaseIsNotTakenForAnotherShard() {
        shards.open(ASLEEP, "a", "b").close();
        List<Shard> renamed = List.of(
                new Shard("a", shards.store("a"), shards.tables("a")),
                new Shard("c", shards.store("b"), shards.tables("b")));

        assertThatThrownBy(() -> new ShardedLimitStore(renamed, TestShards.LONG))
                .isInstanceOf(InvalidShardsException.class)
                .hasMessage(
                        "invalid shards; write 'b: jdbc:postgresql://…' instead of 'c': the database at that URL is shard"
                                + " 'b'");
    }

    @Test
    void shardWithTheLimitsAndRulesStaysFirst() {
        shards.open(ASLEEP, "b", "a").close();

        assertThatThrownBy(() -> shards.open(ASLEEP, "a", "b", "c"))
                .isInstanceOf(InvalidShardsException.class)
                .hasMessageContaining("write shard 'b' first")
                .hasMessageContaining("not in environment variables");
    }

    @Test
    void nextShardWaitsUntilAllStateHasMoved() {
        useUp();
        try (ShardedLimitStore three = shards.open(ASLEEP, "a", "b", "c");
                ShardedLimitStore four = shards.open(AWAKE, "a", "b", "c", "d")) {
            assertThat(isAllowed(three, USERS.get(0), LIMIT)).isFalse();
            Awaitility.await()
                    .untilAsserted(() -> assertThat(shards.tables("d").read())
                            .extracting(ShardTables.Recorded::version)
                            .containsExactly(1, 2, 3));
            for (Subject user : USERS) {
                assertThat(isAllowed(four, user, LIMIT)).isFalse();
            }
        }
    }
}
