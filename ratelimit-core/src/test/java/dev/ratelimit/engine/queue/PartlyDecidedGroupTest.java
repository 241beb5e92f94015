package dev.ratelimit.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.local.LocalDecisions;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.LockedKeysException;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store call that fails after it has decided a part of its group. All runs on the thread of the test. */
@Timeout(30)
class PartlyDecidedGroupTest {

    private static final Limit TEN = Limit.named("ten")
            .algorithm(new FixedWindow(10, Duration.ofHours(1)))
            .build();

    private final SettableClock clock = new SettableClock();
    private final MemoryLimitStore memory = new MemoryLimitStore(clock);
    private final PartlyDecidingStore store = new PartlyDecidingStore(memory);
    private final LocalDecisions local = new LocalDecisions(1, clock);
    private final Queue<Runnable> workers = new ArrayDeque<>();
    private final GroupQueue queue = new GroupQueues(
                    store,
                    new QueueSettings(1, 256, 10_000, Duration.ofSeconds(1)),
                    workers::add,
                    local,
                    Duration.ofHours(1))
            .queue(new BreakerWatch(new Breaker(Duration.ofSeconds(1), Duration.ofHours(1))));

    /** A caller, and everything that it was told. */
    private static final class Caller {

        private final List<Object> told = new ArrayList<>();
        private final Pending pending;

        Caller(String user) {
            this(operation(user, 1));
        }

        Caller(Operation operation) {
            pending = new Pending(operation, told::add, true);
        }

        /** Its only answer. */
        Answer answer() {
            assertThat(told).singleElement().isInstanceOf(Answer.class);
            return (Answer) told.get(0);
        }

        void assertFailed(Class<? extends LimitStoreException> with) {
            assertThat(told).singleElement().isInstanceOf(with);
        }
    }

    private static Operation operation(String user, long cost) {
        return new Operation(Kind.DECIDE, List.of(new Demand(Subject.user(user), TEN, cost)));
    }

    private static StateKey key(String user) {
        return StateKey.of(Subject.user(user), TEN.name());
    }

    private static Predicate<Operation> of(String... users) {
        return operation -> Set.of(users).contains(user(operation));
    }

    private static String user(Operation operation) {
        return operation.demands().get(0).subject().text().replaceFirst("user:", "");
    }

    /** The users of each call so far. */
    private List<List<String>> calls() {
        return store.calls().stream()
                .map(group -> group.stream().map(PartlyDecidedGroupTest::user).toList())
                .toList();
    }

    /** Decides for these users in one group. */
    private List<Caller> decideTogether(String... users) throws UndecidedException {
        Caller[] callers = Arrays.stream(users).map(Caller::new).toArray(Caller[]::new);
        decideTogether(callers);
        return List.of(callers);
    }

    private void decideTogether(Caller... callers) throws UndecidedException {
        for (Caller caller : callers) {
            queue.submitLater(caller.pending);
        }
        runWorkers();
    }

    private void runWorkers() {
        for (Runnable work = workers.poll(); work != null; work = workers.poll()) {
            work.run();
        }
    }

    /** Charges the store before, past this instance, so that an answer shows whose it is. */
    private void charge(String user, int requests) {
        for (int i = 0; i < requests; i++) {
            assertThat(memory.decide(operation(user, 1)).allowed()).isTrue();
        }
    }

    private long chargedInStore(String user) {
        Operation peek = new Operation(Kind.PEEK, List.of(new Demand(Subject.user(user), TEN, 1)));
        return 10 - memory.decide(peek).first().remaining();
    }

    @Test
    void decidedCallersGetTheirOwnAnswersAndTheOthersTheFailure() throws Exception {
        charge("b", 2);
        charge("d", 5);
        store.failAfter(of("b", "d"));

        List<Caller> callers = decideTogether("a", "b", "c", "d");

        callers.get(0).assertFailed(LimitStoreException.class);
        assertThat(callers.get(1).answer().first().remaining()).isEqualTo(7);
        callers.get(2).assertFailed(LimitStoreException.class);
        assertThat(callers.get(3).answer().first().remaining()).isEqualTo(4);
        assertThat(calls()).containsExactly(List.of("a", "b", "c", "d"));
        assertThat(chargedInStore("b")).isEqualTo(3);
        assertThat(chargedInStore("d")).isEqualTo(6);
    }

    @Test
    void decidedDenialIsToldAsADenial() throws Exception {
        charge("b", 10);
        store.failAfter(of("b"));

        List<Caller> callers = decideTogether("a", "b");

        callers.get(0).assertFailed(LimitStoreException.class);
        assertThat(callers.get(1).answer().allowed()).isFalse();
    }

    @Test
    void failureAfterAllWereDecidedFailsNobody() throws Exception {
        charge("b", 3);
        store.failAfter(of("a", "b"));

        List<Caller> callers = decideTogether("a", "b");

        assertThat(callers.get(0).answer().first().remaining()).isEqualTo(9);
        assertThat(callers.get(1).answer().first().remaining()).isEqualTo(6);
        assertThat(calls()).hasSize(1);
    }

    @Test
    void failureBeforeAnyWasDecidedFailsAll() throws Exception {
        store.failAfter(of());

        decideTogether("a", "b").forEach(caller -> caller.assertFailed(LimitStoreException.class));

        assertThat(calls()).hasSize(1);
    }

    @Test
    void onlyUndecidedCallersAreAskedAgainWithoutTheLockedKey() throws Exception {
        charge("a", 1);
        charge("c", 4);
        charge("d", 6);
        store.findLocked(key("b"), of("a", "d"));

        List<Caller> callers = decideTogether("a", "b", "c", "d");

        assertThat(calls()).containsExactly(List.of("a", "b", "c", "d"), List.of("c"));
        assertThat(callers.get(0).answer().first().remaining()).isEqualTo(8);
        callers.get(1).assertFailed(LockedKeysException.class);
        assertThat(callers.get(2).answer().first().remaining()).isEqualTo(5);
        assertThat(callers.get(3).answer().first().remaining()).isEqualTo(3);
        assertThat(chargedInStore("a")).isEqualTo(2);
        assertThat(chargedInStore("b")).isZero();
        assertThat(chargedInStore("c")).isEqualTo(5);
        assertThat(chargedInStore("d")).isEqualTo(7);
    }

    @Test
    void secondTryMayBeDecidedInPartToo() throws Exception {
        charge("d", 2);
        store.findLocked(key("b"), of("a"));
        store.failAfter(of("d"));

        List<Caller> callers = decideTogether("a", "b", "c", "d");

        assertThat(calls()).containsExactly(List.of("a", "b", "c", "d"), List.of("c", "d"));
        assertThat(callers.get(0).answer().first().remaining()).isEqualTo(9);
        callers.get(1).assertFailed(LockedKeysException.class);
        callers.get(2).assertFailed(LimitStoreException.class);
        assertThat(callers.get(3).answer().first().remaining()).isEqualTo(7);
    }

    @Test
    void ofTwoRequestsOfOneSubjectOnlyTheUndecidedOneFails() throws Exception {
        Caller first = new Caller("a");
        Caller second = new Caller(operation("a", 2));
        store.failAfter(operation -> operation.demands().get(0).cost() == 1);

        decideTogether(first, second);

        assertThat(first.answer().first().remaining()).isEqualTo(9);
        second.assertFailed(LimitStoreException.class);
        assertThat(chargedInStore("a")).isEqualTo(1);
    }

    @Test
    void queueIsUsableAfterwards() throws Exception {
        store.failAfter(of("b"));
        decideTogether("a", "b");

        List<Caller> callers = decideTogether("a", "b");

        assertThat(callers.get(0).answer().first().remaining()).isEqualTo(9);
        assertThat(callers.get(1).answer().first().remaining()).isEqualTo(8);
    }

    @Test
    void onlyUndecidedCallersAreDecidedHereAndEachIsChargedOnce() throws Exception {
        store.failAfter(of("b"));
        List<Caller> callers = decideTogether("a", "b");

        LocalDecisions.Granted here = local.decide(callers.get(0).pending);
        LocalDecisions.Granted there = local.decide(callers.get(1).pending);

        assertThat(here.eras()).as("debts of the undecided caller").isNotNull();
        assertThat(there.answer()).isSameAs(callers.get(1).answer());
        assertThat(there.eras()).as("debts of the decided caller").isNull();
        assertThat(local.debts()).isEqualTo(1);
        decideTogether("a", "b");
        assertThat(local.debts()).isZero();
        assertThat(chargedInStore("a")).isEqualTo(2);
        assertThat(chargedInStore("b")).isEqualTo(2);
    }

    @Test
    void debtOfADecidedRequestIsChargedOnceAndThatOfAnUndecidedOneStaysOwed() throws Exception {
        store.failAfter(of());
        decideTogether("a", "b").forEach(caller -> local.decide(caller.pending));
        assertThat(local.debts()).isEqualTo(2);

        store.failAfter(of("b"));
        List<Caller> callers = decideTogether("a", "b");

        assertThat(callers.get(1).answer().first().remaining()).isEqualTo(8);
        assertThat(store.calls().get(1))
                .allSatisfy(sent -> assertThat(sent.demands().get(0).debt()).isNotNull());
        assertThat(chargedInStore("b")).isEqualTo(2);
        decideTogether("a", "b");
        assertThat(chargedInStore("a")).as("one granted here, one by the store").isEqualTo(2);
        assertThat(chargedInStore("b")).isEqualTo(3);
        assertThat(local.debts()).isZero();
    }
}
