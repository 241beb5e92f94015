package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.queue.AnsweringStore;
import dev.ratelimit.engine.queue.GroupQueue;
import dev.ratelimit.engine.queue.HeldStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.MemoryLimitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

@Timeout(60)
class StoreRateLimiterGroupingTest {

    private static final Limit LIMIT = Limit.named("api")
            .algorithm(new TokenBucket(1_000_000, Rate.perSecond(1_000_000)))
            .build();
    private static final Grouping PATIENT = Grouping.DEFAULT.withDeadline(Duration.ofSeconds(30));

    private final HeldStore store = new HeldStore();
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final List<StoreRateLimiter> limiters = new ArrayList<>();

    @AfterEach
    void close() {
        limiters.forEach(StoreRateLimiter::close);
        callers.shutdownNow();
    }

    private StoreRateLimiter limiter(Grouping grouping) {
        return limiter(store, grouping);
    }

    private StoreRateLimiter limiter(LimitStore of, Grouping grouping) {
        StoreRateLimiter limiter = StoreRateLimiter.builder(of, Limits.of(LIMIT))
                .grouping(grouping)
                .build();
        limiters.add(limiter);
        return limiter;
    }

    private static LimitRequest request(String user) {
        return LimitRequest.of(Subject.user(user), LIMIT);
    }

    /** A caller on a thread of its own, and where it stands. */
    private final class Caller {

        private final AtomicReference<Thread> thread = new AtomicReference<>();
        private final Future<Decision> decision;

        Caller(StoreRateLimiter limiter, LimitRequest request) {
            decision = callers.submit(() -> {
                thread.set(Thread.currentThread());
                return limiter.decide(request);
            });
        }

        /** Waits until the caller waits for its group. */
        Caller queued() {
            await().atMost(Duration.ofSeconds(10))
                    .pollInterval(Duration.ofMillis(2))
                    .until(() -> {
                        Thread running = thread.get();
                        return running != null && running.getState() == Thread.State.TIMED_WAITING;
                    });
            return this;
        }

        Decision decision() throws Exception {
            return decision.get(10, TimeUnit.SECONDS);
        }
    }

    private List<Caller> queue(StoreRateLimiter limiter, String... users) {
        List<Caller> queued = new ArrayList<>();
        for (String user : users) {
            queued.add(new Caller(limiter, request(user)).queued());
        }
        return queued;
    }

    @Test
    void loneCallerIsDecidedOnItsOwnThread() throws Exception {
        Caller caller = new Caller(limiter(PATIENT), request("alice"));

        HeldStore.Held group = store.next();

        assertThat(group.thread).isSameAs(caller.thread.get());
        assertThat(group.size()).isEqualTo(1);
        group.release();
        assertThat(caller.decision().outcome()).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void loneCallerDoesNotWaitLongerThanItsDeadlineForAStoreThatMayTakeLonger() throws Exception {
        HeldStore slow = new HeldStore(false);
        StoreRateLimiter limiter = limiter(slow, PATIENT.withDeadline(Duration.ofMillis(50)));

        Decision late = limiter.decide(request("alice").onFailure(FailurePolicy.OPEN));

        assertThat(late.outcome()).isEqualTo(Outcome.FAILED);
        HeldStore.Held group = slow.next();
        assertThat(group.thread).isNotSameAs(Thread.currentThread());
        group.release();
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "this Java has no virtual threads")
    void virtualThreadLeavesTheCallToAWorker() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        Thread caller = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable)
                        () -> limiter.decide(request("alice")));

        HeldStore.Held group = store.next();

        assertThat(group.thread).isNotSameAs(caller);
        group.release();
        caller.join(10_000);
        assertThat(caller.isAlive()).isFalse();
    }

    @Test
    void callersOneAfterAnotherAreEachDecidedOnTheirOwnThread() {
        Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        StoreRateLimiter limiter = limiter(new AnsweringStore(group -> threads.add(Thread.currentThread())), PATIENT);

        for (int i = 0; i < 100; i++) {
            assertThat(limiter.decide(request("user" + i)).allowed()).isTrue();
        }

        assertThat(threads).hasSize(100).containsOnly(Thread.currentThread());
    }

    /** Against a store that answers at once, anything that waits for others to come would be seen in the time. */
    @Test
    void loneCallerWaitsForNobody() {
        StoreRateLimiter limiter = limiter(new AnsweringStore(group -> {}), PATIENT);
        long fastest = Long.MAX_VALUE;

        for (int i = 0; i < 1_000; i++) {
            long start = System.nanoTime();
            limiter.decide(request("alice"));
            fastest = Math.min(fastest, System.nanoTime() - start);
        }

        assertThat(Duration.ofNanos(fastest)).isLessThan(Duration.ofMillis(1));
    }

    @Test
    void callersThatComeWhileAGroupIsInFlightFormOneNextGroupInTheOrderOfTheirArrival() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        Caller first = new Caller(limiter, request("first"));
        HeldStore.Held lone = store.next();
        List<Caller> others = queue(limiter, "a", "b", "c", "d", "e");
        assertThat(store.hasAnother()).isFalse();

        lone.release();
        HeldStore.Held next = store.next();

        assertThat(next.subjects()).containsExactly("user:a", "user:b", "user:c", "user:d", "user:e");
        // The first caller goes its way while the next group is still at the store.
        assertThat(first.decision().allowed()).isTrue();
        assertThat(next.thread).isNotSameAs(first.thread.get());
        next.release();
        for (Caller other : others) {
            assertThat(other.decision().outcome()).isEqualTo(Outcome.ALLOWED);
        }
    }

    @Test
    void nothingIsAtTheStoreAfterTheLastGroupSoTheNextCallerLeadsItself() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        Caller first = new Caller(limiter, request("first"));
        HeldStore.Held lone = store.next();
        Caller second = queue(limiter, "second").get(0);
        lone.release();
        store.next().release();
        first.decision();
        second.decision();

        // The worker leaves just after it has answered, so a group may count as away for a moment longer.
        await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
            Caller third = new Caller(limiter, request("third"));
            HeldStore.Held group = store.next();
            group.release();
            third.decision();
            assertThat(group.thread).isSameAs(third.thread.get());
        });
    }

    @Test
    void noGroupIsLargerThanTheCap() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT.withMaxGroupSize(3));
        new Caller(limiter, request("first"));
        HeldStore.Held lone = store.next();
        List<Caller> others = queue(limiter, "a", "b", "c", "d", "e", "f", "g", "h");
        lone.release();

        List<Integer> sizes = new ArrayList<>();
        for (int decided = 0; decided < others.size(); ) {
            HeldStore.Held group = store.next();
            sizes.add(group.size());
            decided += group.size();
            group.release();
        }

        assertThat(sizes).containsExactly(3, 3, 2);
    }

    @Test
    void oneMoreThanMayWaitIsAnOverloadAtOnceAndThePolicyDecides() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT.withMaxWaiting(2));
        new Caller(limiter, request("first"));
        HeldStore.Held lone = store.next();
        List<Caller> waiting = queue(limiter, "a", "b");

        // The store is still held: had these waited for it, they would not return.
        Decision open = new Caller(limiter, request("c").onFailure(FailurePolicy.OPEN)).decision();
        Decision closed = new Caller(
                        limiter, request("d").onFailure(FailurePolicy.CLOSED).retryAfterFloor(Duration.ofSeconds(3)))
                .decision();

        assertThat(open.outcome()).isEqualTo(Outcome.OVERLOADED);
        assertThat(open.allowed()).isTrue();
        assertThat(open.retryAfter()).isZero();
        assertThat(open.failure()).isNotNull();
        assertThat(closed.outcome()).isEqualTo(Outcome.OVERLOADED);
        assertThat(closed.allowed()).isFalse();
        assertThat(closed.retryAfter()).isEqualTo(Duration.ofSeconds(3));
        lone.release();
        HeldStore.Held next = store.next();
        assertThat(next.subjects()).containsExactly("user:a", "user:b");
        next.release();
        for (Caller one : waiting) {
            assertThat(one.decision().outcome()).isEqualTo(Outcome.ALLOWED);
        }
    }

    @Test
    void failureOfTheStoreIsReportedToEveryRequestOfTheGroupAndThePolicyDecides() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        Caller lonely = new Caller(limiter, request("first").onFailure(FailurePolicy.CLOSED));
        HeldStore.Held lone = store.next();
        Caller open = new Caller(limiter, request("open").onFailure(FailurePolicy.OPEN)).queued();
        Caller closed = new Caller(limiter, request("closed").onFailure(FailurePolicy.CLOSED)).queued();
        LimitStoreException firstFailure = new LimitStoreException("the disk is full", null);
        LimitStoreException secondFailure = new LimitStoreException("the disk is still full", null);

        lone.fail(firstFailure);
        store.next().fail(secondFailure);

        assertThat(lonely.decision().outcome()).isEqualTo(Outcome.FAILED);
        assertThat(lonely.decision().allowed()).isFalse();
        assertThat(lonely.decision().failure()).isSameAs(firstFailure);
        assertThat(open.decision().outcome()).isEqualTo(Outcome.FAILED);
        assertThat(open.decision().allowed()).isTrue();
        assertThat(open.decision().failure()).isSameAs(secondFailure);
        assertThat(closed.decision().outcome()).isEqualTo(Outcome.FAILED);
        assertThat(closed.decision().allowed()).isFalse();
        assertThat(closed.decision().failure()).isSameAs(secondFailure);
    }

    @Test
    void whenTheStoreIsBackAfterAFailureRequestsAreDecidedAgain() {
        AtomicBoolean broken = new AtomicBoolean(true);
        LimitStore back = new AnsweringStore(group -> {
            if (broken.get()) {
                throw new LimitStoreException("out of order", null);
            }
        });
        StoreRateLimiter limiter = limiter(back, PATIENT);
        assertThat(limiter.decide(request("alice").onFailure(FailurePolicy.OPEN))
                        .outcome())
                .isEqualTo(Outcome.FAILED);

        broken.set(false);

        await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
            Decision decision = limiter.decide(request("alice"));
            assertThat(decision.outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(decision.failure()).isNull();
        });
    }

    @Test
    void requestThatIsNotDecidedInTimeFailsAtItsDeadlineAndThePolicyDecides() throws Exception {
        Duration deadline = Duration.ofMillis(200);
        StoreRateLimiter limiter = limiter(PATIENT.withDeadline(deadline));
        new Caller(limiter, request("first"));
        HeldStore.Held lone = store.next();
        long start = System.nanoTime();
        Caller openCaller = new Caller(limiter, request("open").onFailure(FailurePolicy.OPEN)).queued();
        Caller closedCaller = new Caller(limiter, request("closed").onFailure(FailurePolicy.CLOSED));

        // The store is still held: had these waited for it, they would not return.
        Decision open = openCaller.decision();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(deadline);
        Decision closed = closedCaller.decision();

        assertThat(open.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(open.allowed()).isTrue();
        assertThat(open.failure()).hasMessageContaining("in time");
        assertThat(closed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(closed.allowed()).isFalse();
        lone.release();
    }

    @Test
    void asManyGroupsAreInFlightAsAllowedAndNoMore() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT.withGroupsInFlight(2));
        List<Caller> all = new ArrayList<>();
        for (int i = 0; i < 3 * GroupQueue.WORTH_ANOTHER; i++) {
            all.add(new Caller(limiter, request("user" + i)));
        }

        HeldStore.Held one = store.next();
        HeldStore.Held other = store.next();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> all.stream()
                        .allMatch(caller -> caller.thread.get() != null
                                && (caller.thread.get().getState() == Thread.State.WAITING
                                        || caller.thread.get().getState() == Thread.State.TIMED_WAITING)));

        assertThat(store.hasAnother()).isFalse();
        assertThat(one.thread).isNotSameAs(other.thread);
        int seen = one.size() + other.size();
        one.release();
        other.release();
        while (seen < all.size()) {
            HeldStore.Held next = store.next();
            seen += next.size();
            next.release();
        }
        for (Caller caller : all) {
            assertThat(caller.decision().outcome()).isEqualTo(Outcome.ALLOWED);
        }
    }

    @Test
    void requestsOfOneSubjectAreNeverInTwoGroupsAtOnce() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT.withGroupsInFlight(8));
        new Caller(limiter, request("alice"));
        HeldStore.Held lone = store.next();

        queue(limiter, "alice", "alice", "alice");

        assertThat(store.hasAnother()).isFalse();
        lone.release();
        HeldStore.Held next = store.next();
        assertThat(next.subjects()).containsExactly("user:alice", "user:alice", "user:alice");
        next.release();
    }

    @Test
    void interruptDoesNotEndTheWaitAndIsStillSetAfterwards() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        new Caller(limiter, request("first"));
        HeldStore.Held lone = store.next();
        AtomicBoolean flag = new AtomicBoolean();
        AtomicReference<Outcome> outcome = new AtomicReference<>();
        Thread waiter = new Thread(() -> {
            outcome.set(limiter.decide(request("waiter")).outcome());
            flag.set(Thread.currentThread().isInterrupted());
        });
        waiter.start();
        await().atMost(Duration.ofSeconds(10)).until(() -> waiter.getState() == Thread.State.TIMED_WAITING);

        waiter.interrupt();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> !waiter.isInterrupted() && waiter.getState() == Thread.State.TIMED_WAITING);
        lone.release();
        store.next().release();
        waiter.join(10_000);

        assertThat(outcome.get()).isEqualTo(Outcome.ALLOWED);
        assertThat(flag).isTrue();
    }

    @Test
    void callerThatIsInterruptedBeforehandIsDecidedAndStaysInterrupted() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        AtomicBoolean flag = new AtomicBoolean();
        Future<Decision> decision = callers.submit(() -> {
            Thread.currentThread().interrupt();
            Decision decided = limiter.decide(request("alice"));
            flag.set(Thread.interrupted());
            return decided;
        });

        store.next().release();

        assertThat(decision.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(flag).isTrue();
    }

    @Test
    void closingTellsThoseWhoWaitThatNoDecisionCanBeHad() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        Caller first = new Caller(limiter, request("first"));
        HeldStore.Held lone = store.next();
        Caller open = new Caller(limiter, request("open").onFailure(FailurePolicy.OPEN)).queued();
        Caller closed = new Caller(limiter, request("closed").onFailure(FailurePolicy.CLOSED)).queued();

        limiter.close();
        lone.release();

        assertThat(first.decision().outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(open.decision().outcome()).isEqualTo(Outcome.FAILED);
        assertThat(open.decision().allowed()).isTrue();
        assertThat(open.decision().failure()).hasMessageContaining("closed");
        assertThat(closed.decision().outcome()).isEqualTo(Outcome.FAILED);
        assertThat(closed.decision().allowed()).isFalse();
        assertThat(store.hasAnother()).isFalse();
    }

    /** With a store this fast, the next leader comes while the worker of the last group is still on its way out. */
    @Test
    void openLimiterNeverTellsAWaitingRequestThatItIsClosed() throws Exception {
        StoreRateLimiter limiter = limiter(new MemoryLimitStore(), PATIENT);
        int threads = 8;
        int decisions = 40_000;
        CountDownLatch start = new CountDownLatch(1);
        Queue<Decision> undecided = new ConcurrentLinkedQueue<>();
        List<Future<?>> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            String user = "user" + t;
            all.add(callers.submit(() -> {
                start.await();
                for (int i = 0; i < decisions && undecided.isEmpty(); i++) {
                    Decision decision = limiter.decide(request(user));
                    if (!decision.outcome().isDecided()) {
                        undecided.add(decision);
                    }
                }
                return null;
            }));
        }

        start.countDown();
        for (Future<?> one : all) {
            one.get(30, TimeUnit.SECONDS);
        }

        assertThat(undecided).isEmpty();
    }
}
