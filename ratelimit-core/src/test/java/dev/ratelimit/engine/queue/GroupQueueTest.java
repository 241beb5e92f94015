package dev.ratelimit.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.local.LocalDecisions;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class GroupQueueTest {

    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new TokenBucket(10, Rate.perSecond(10)))
            .build();

    private final HeldStore store = new HeldStore();
    private final Breaker breaker = new Breaker(Duration.ofSeconds(1), Duration.ofSeconds(1));

    /** Nobody waits for so long here. */
    private static final Duration PATIENT = Duration.ofHours(1);

    private static final QueueSettings SETTINGS = new QueueSettings(1, 100, 10_000, Duration.ofSeconds(1));

    private static final QueueSettings TWO_GROUPS = new QueueSettings(2, 100, 10_000, Duration.ofSeconds(1));

    private GroupQueue queue(Executor workers) {
        return new GroupQueues(store, SETTINGS, workers, new LocalDecisions(1, null), PATIENT)
                .queue(new BreakerWatch(breaker));
    }

    private GroupQueue queueOfTwoGroups() {
        return new GroupQueues(store, TWO_GROUPS, GroupQueueTest::onANewThread, new LocalDecisions(1, null), PATIENT)
                .queue(new BreakerWatch(breaker));
    }

    /** Submits so many, each of a subject of its own, and waits until they wait. */
    private static List<FutureTask<Answer>> submitMany(GroupQueue queue, String name, int many) {
        List<FutureTask<Answer>> tasks = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            tasks.add(submit(queue, name + i));
            awaitWaiting(name + i);
        }
        return tasks;
    }

    private static void assertAllowed(List<FutureTask<Answer>> tasks) throws Exception {
        for (FutureTask<Answer> task : tasks) {
            assertThat(task.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        }
    }

    private static Operation operation(String user) {
        return new Operation(Kind.DECIDE, List.of(new Demand(Subject.user(user), LIMIT, 1)));
    }

    private static FutureTask<Answer> submit(GroupQueue queue, String user) {
        return submit(queue, user, Duration.ofSeconds(20));
    }

    private static FutureTask<Answer> submit(GroupQueue queue, String user, Duration deadline) {
        return submit(queue, operation(user), user, deadline);
    }

    private static FutureTask<Answer> submit(GroupQueue queue, Operation operation, String threadName) {
        return submit(queue, operation, threadName, Duration.ofSeconds(20));
    }

    private static FutureTask<Answer> submit(
            GroupQueue queue, Operation operation, String threadName, Duration deadline) {
        FutureTask<Answer> task =
                new FutureTask<>(() -> queue.submit(operation, System.nanoTime() + deadline.toNanos()));
        new Thread(task, threadName).start();
        return task;
    }

    private static void awaitWaiting(String threadName) {
        await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(2))
                .atMost(Duration.ofSeconds(10))
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .anyMatch(thread -> thread.getName().equals(threadName)
                                && thread.getState() == Thread.State.TIMED_WAITING));
    }

    @Test
    void whereNoWorkerCanBeStartedTheCallerDecidesForThoseWhoWait() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        Executor exhausted = work -> {
            tries.incrementAndGet();
            throw new OutOfMemoryError("unable to create native thread");
        };
        GroupQueue queue = queue(exhausted);
        FutureTask<Answer> first = submit(queue, "queue-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> second = submit(queue, "queue-second");
        awaitWaiting("queue-second");

        lone.release();
        store.next().release();

        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(second.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(tries).hasValue(1);
        // Nothing is at the store any more: the next caller leads.
        FutureTask<Answer> third = submit(queue, "queue-third");
        store.next().release();
        assertThat(third.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void whereAWorkerIsLostTheNextCallerTakesOver() throws Exception {
        Executor workers = work -> new Thread(() -> {
                    try {
                        work.run();
                    } catch (OutOfMemoryError e) {
                        // it ends, as a worker of the pool would
                    }
                })
                .start();
        GroupQueue queue = queue(workers);
        queue.submitLater(new Pending(operation("queue-lost"), told -> {
            throw new OutOfMemoryError("no memory to tell it");
        }));
        HeldStore.Held lost = store.next();
        FutureTask<Answer> waiting = submit(queue, "queue-waiting");
        awaitWaiting("queue-waiting");
        lost.release();
        lost.thread.join(10_000);

        FutureTask<Answer> next = submit(queue, "queue-next");
        store.next().release();
        store.next().release();

        assertThat(next.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(waiting.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void noWorkerIsAskedForWhereNobodyWaits() throws Exception {
        GroupQueue queue = queue(work -> {
            throw new AssertionError("a worker was asked for");
        });

        for (int i = 0; i < 3; i++) {
            FutureTask<Answer> lone = submit(queue, "queue-lone");
            store.next().release();
            assertThat(lone.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        }
    }

    @Test
    void requestThatIsLateIsNeverSentToTheStore() throws Exception {
        GroupQueue queue = queue(GroupQueueTest::onANewThread);
        FutureTask<Answer> first = submit(queue, "queue-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> inTime = submit(queue, "queue-in-time");
        awaitWaiting("queue-in-time");

        FutureTask<Answer> late = submit(queue, "queue-late", Duration.ofMillis(50));
        assertThatThrownBy(() -> late.get(10, TimeUnit.SECONDS)).hasMessageContaining("in time");
        lone.release();

        HeldStore.Held next = store.next();
        assertThat(next.subjects()).containsExactly("user:queue-in-time");
        next.release();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(inTime.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void requestThatIsLateMakesRoomForAnotherToWait() throws Exception {
        GroupQueue queue = new GroupQueues(
                        store,
                        new QueueSettings(1, 100, 1, Duration.ofSeconds(1)),
                        GroupQueueTest::onANewThread,
                        new LocalDecisions(1, null),
                        PATIENT)
                .queue(new BreakerWatch(breaker));
        submit(queue, "queue-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> late = submit(queue, "queue-late", Duration.ofMillis(50));
        assertThatThrownBy(() -> late.get(10, TimeUnit.SECONDS)).hasMessageContaining("in time");

        FutureTask<Answer> another = submit(queue, "queue-another");
        awaitWaiting("queue-another");
        FutureTask<Answer> oneMore = submit(queue, "queue-one-more");

        assertThatThrownBy(() -> oneMore.get(10, TimeUnit.SECONDS))
                .hasMessageContaining("1 requests are already waiting");
        lone.release();
        store.next().release();
        assertThat(another.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void anotherGroupGoesWhenEnoughWait() throws Exception {
        GroupQueue queue = queueOfTwoGroups();
        FutureTask<Answer> first = submit(queue, "queue-first");
        HeldStore.Held lone = store.next();

        List<FutureTask<Answer>> few = submitMany(queue, "queue-waits", GroupQueue.WORTH_ANOTHER - 1);
        assertThat(store.hasAnother()).isFalse();
        FutureTask<Answer> last = submit(queue, "queue-last");

        HeldStore.Held second = store.next();
        assertThat(second.subjects()).hasSize(GroupQueue.WORTH_ANOTHER).contains("user:queue-last");
        // While both are away, all wait.
        List<FutureTask<Answer>> more = submitMany(queue, "queue-more", GroupQueue.WORTH_ANOTHER);
        assertThat(store.hasAnother()).isFalse();
        second.release();
        assertAllowed(few);
        assertThat(last.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        store.next().release();
        assertAllowed(more);
        lone.release();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void fewWaitForTheGroupThatIsStillAway() throws Exception {
        GroupQueue queue = queueOfTwoGroups();
        FutureTask<Answer> first = submit(queue, "queue-first");
        HeldStore.Held lone = store.next();
        List<FutureTask<Answer>> many = submitMany(queue, "queue-many", GroupQueue.WORTH_ANOTHER);
        HeldStore.Held second = store.next();
        FutureTask<Answer> late = submit(queue, "queue-late");
        awaitWaiting("queue-late");

        second.release();
        assertAllowed(many);
        second.thread.join(10_000);
        assertThat(store.hasAnother()).isFalse();
        lone.release();

        HeldStore.Held third = store.next();
        assertThat(third.subjects()).containsExactly("user:queue-late");
        third.release();
        assertThat(late.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void oneSubjectIsNeverInTwoGroupsAtATime() throws Exception {
        GroupQueue queue = queueOfTwoGroups();
        FutureTask<Answer> first = submit(queue, "queue-hot");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> hot = submit(queue, operation("queue-hot"), "queue-hot-again");
        awaitWaiting("queue-hot-again");

        List<FutureTask<Answer>> many = submitMany(queue, "queue-many", GroupQueue.WORTH_ANOTHER);
        HeldStore.Held second = store.next();
        assertThat(second.subjects()).hasSize(GroupQueue.WORTH_ANOTHER).doesNotContain("user:queue-hot");

        // It goes as soon as its subject is back, though it is alone.
        lone.release();
        HeldStore.Held third = store.next();
        assertThat(third.subjects()).containsExactly("user:queue-hot");
        third.release();
        second.release();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(hot.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertAllowed(many);
    }

    @Test
    void aGroupThatIsStuckHoldsUpNobodyElse() throws Exception {
        GroupQueue queue = new GroupQueues(store, TWO_GROUPS, GroupQueueTest::onANewThread, new LocalDecisions(1, null))
                .queue(new BreakerWatch(breaker));
        FutureTask<Answer> stuck = submit(queue, "queue-stuck");
        HeldStore.Held held = store.next();

        FutureTask<Answer> other = submit(queue, "queue-other");
        HeldStore.Held second = store.next();
        assertThat(second.subjects()).containsExactly("user:queue-other");
        second.release();

        assertThat(other.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(stuck.isDone()).isFalse();
        held.release();
        assertThat(stuck.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void requestsOverSeveralLimitsAreKeptApartByAllOfThem() throws Exception {
        GroupQueue queue = queueOfTwoGroups();
        FutureTask<Answer> first = submit(queue, both("queue-a", "queue-all"), "queue-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> second = submit(queue, both("queue-b", "queue-all"), "queue-second");
        awaitWaiting("queue-second");
        // It shares a subject with one that waits, and does not overtake it.
        FutureTask<Answer> third = submit(queue, operation("queue-b"), "queue-third");
        awaitWaiting("queue-third");

        List<FutureTask<Answer>> many = submitMany(queue, "queue-many", GroupQueue.WORTH_ANOTHER - 1);
        HeldStore.Held others = store.next();
        assertThat(others.subjects()).doesNotContain("user:queue-b");
        others.release();
        assertAllowed(many);
        lone.release();

        HeldStore.Held rest = store.next();
        assertThat(rest.subjects()).containsExactly("user:queue-b", "user:queue-b");
        rest.release();
        assertAllowed(List.of(first, second, third));
    }

    private static Operation both(String user, String other) {
        return new Operation(
                Kind.DECIDE,
                List.of(new Demand(Subject.user(user), LIMIT, 1), new Demand(Subject.user(other), LIMIT, 1)));
    }

    @Test
    void aStoreMayThrowWhatItDoesNotDeclare() throws Exception {
        GroupQueue queue = queue(GroupQueueTest::onANewThread);
        FutureTask<Answer> first = submit(queue, "queue-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> second = submit(queue, "queue-second");
        awaitWaiting("queue-second");

        lone.failUndeclared(new SQLException("gone"));

        assertThatThrownBy(() -> first.get(10, TimeUnit.SECONDS)).hasStackTraceContaining("gone");
        store.next().release();
        assertThat(second.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void aWorkerThatCannotBeStartedLeavesTheQueueUsable() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        GroupQueue queue = queue(work -> {
            if (tries.getAndIncrement() == 0) {
                throw new StackOverflowError("deep");
            }
            onANewThread(work);
        });
        FutureTask<Answer> first = submit(queue, "queue-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> second = submit(queue, "queue-second");
        awaitWaiting("queue-second");
        lone.release();
        assertThatThrownBy(() -> first.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("deep");

        FutureTask<Answer> third = submit(queue, "queue-third");
        store.next().release();
        store.next().release();

        assertThat(third.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(second.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void subjectsThatWaitForOneAnotherStartNoGroup() throws Exception {
        GroupQueue queue = queueOfTwoGroups();
        FutureTask<Answer> first = submit(queue, "queue-hot");
        HeldStore.Held lone = store.next();
        List<FutureTask<Answer>> hot = new ArrayList<>();
        for (int i = 0; i < 2 * GroupQueue.WORTH_ANOTHER; i++) {
            hot.add(submit(queue, operation("queue-hot"), "queue-hot" + i));
            awaitWaiting("queue-hot" + i);
        }

        assertThat(store.hasAnother()).isFalse();
        lone.release();
        HeldStore.Held rest = store.next();
        assertThat(rest.subjects()).hasSize(2 * GroupQueue.WORTH_ANOTHER);
        rest.release();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertAllowed(hot);
    }

    private static void onANewThread(Runnable work) {
        new Thread(work, "queue-worker").start();
    }
}
