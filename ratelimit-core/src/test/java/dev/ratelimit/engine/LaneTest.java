package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LaneTest {

    private static final Limit LIMIT =
            Limit.named("api").tokenBucket(10, Rate.perSecond(10)).build();

    private final HeldStore store = new HeldStore();
    private final Breaker breaker = new Breaker(Duration.ofSeconds(1), Duration.ofSeconds(1));

    private static Operation operation(String user) {
        return new Operation(Kind.DECIDE, List.of(new Demand(Subject.user(user), LIMIT, 1)));
    }

    private static FutureTask<Answer> submit(Lane lane, String user) {
        return submit(lane, user, Duration.ofSeconds(20));
    }

    private static FutureTask<Answer> submit(Lane lane, String user, Duration deadline) {
        FutureTask<Answer> task =
                new FutureTask<>(() -> lane.submit(operation(user), System.nanoTime() + deadline.toNanos()));
        new Thread(task, user).start();
        return task;
    }

    private static void awaitWaiting(String threadName) {
        await().atMost(Duration.ofSeconds(10))
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
        Lane lane = new Lane(store, 10, 10, exhausted, breaker);
        FutureTask<Answer> first = submit(lane, "lane-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> second = submit(lane, "lane-second");
        awaitWaiting("lane-second");

        lone.release();
        store.next().release();

        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(second.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(tries).hasValue(1);
        // The lane is free again: the next caller leads.
        FutureTask<Answer> third = submit(lane, "lane-third");
        store.next().release();
        assertThat(third.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void whereAWorkerIsLostTheNextCallerTakesTheLaneOver() throws Exception {
        Executor workers = work -> new Thread(() -> {
                    try {
                        work.run();
                    } catch (OutOfMemoryError e) {
                        // it ends, as a worker of the pool would
                    }
                })
                .start();
        Lane lane = new Lane(store, 10, 10, workers, breaker);
        lane.submitLater(new Pending(operation("lane-lost"), told -> {
            throw new OutOfMemoryError("no memory to tell it");
        }));
        HeldStore.Held lost = store.next();
        FutureTask<Answer> waiting = submit(lane, "lane-waiting");
        awaitWaiting("lane-waiting");
        lost.release();
        lost.thread.join(10_000);

        FutureTask<Answer> next = submit(lane, "lane-next");
        store.next().release();
        store.next().release();

        assertThat(next.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(waiting.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void noWorkerIsAskedForWhereNobodyWaits() throws Exception {
        Lane lane = new Lane(
                store,
                10,
                10,
                work -> {
                    throw new AssertionError("a worker was asked for");
                },
                breaker);

        for (int i = 0; i < 3; i++) {
            FutureTask<Answer> lone = submit(lane, "lane-lone");
            store.next().release();
            assertThat(lone.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        }
    }

    @Test
    void requestThatIsLateIsNeverSentToTheStore() throws Exception {
        Lane lane = new Lane(store, 10, 10, LaneTest::onANewThread, breaker);
        FutureTask<Answer> first = submit(lane, "lane-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> inTime = submit(lane, "lane-in-time");
        awaitWaiting("lane-in-time");

        FutureTask<Answer> late = submit(lane, "lane-late", Duration.ofMillis(50));
        assertThatThrownBy(() -> late.get(10, TimeUnit.SECONDS)).hasMessageContaining("in time");
        lone.release();

        HeldStore.Held next = store.next();
        assertThat(next.subjects()).containsExactly("user:lane-in-time");
        next.release();
        assertThat(first.get(10, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(inTime.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    @Test
    void requestThatIsLateMakesRoomForAnotherToWait() throws Exception {
        Lane lane = new Lane(store, 10, 1, LaneTest::onANewThread, breaker);
        submit(lane, "lane-first");
        HeldStore.Held lone = store.next();
        FutureTask<Answer> late = submit(lane, "lane-late", Duration.ofMillis(50));
        assertThatThrownBy(() -> late.get(10, TimeUnit.SECONDS)).hasMessageContaining("in time");

        FutureTask<Answer> another = submit(lane, "lane-another");
        awaitWaiting("lane-another");
        FutureTask<Answer> oneMore = submit(lane, "lane-one-more");

        assertThatThrownBy(() -> oneMore.get(10, TimeUnit.SECONDS)).hasMessageContaining("1 requests are waiting");
        lone.release();
        store.next().release();
        assertThat(another.get(10, TimeUnit.SECONDS).allowed()).isTrue();
    }

    private static void onANewThread(Runnable work) {
        new Thread(work, "lane-worker").start();
    }
}
