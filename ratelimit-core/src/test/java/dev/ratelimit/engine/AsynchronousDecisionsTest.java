package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.queue.HeldStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.testing.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AsynchronousDecisionsTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Limit TEN = Limit.named("ten")
            .algorithm(new FixedWindow(10, Duration.ofDays(365)))
            .build();
    private static final Limit LEASED = Limit.named("leased")
            .algorithm(new FixedWindow(10_000, Duration.ofDays(365)))
            .lease(new Lease(100))
            .build();

    private final HeldStore held = new HeldStore();
    private final SwitchedStore store = new SwitchedStore(new MemoryLimitStore());
    private final List<StoreRateLimiter> limiters = new ArrayList<>();

    @AfterEach
    void close() {
        limiters.forEach(StoreRateLimiter::close);
    }

    private StoreRateLimiter limiter(LimitStore over, Duration deadline) {
        StoreRateLimiter limiter = StoreRateLimiter.builder(over, Limits.of())
                .grouping(Grouping.DEFAULT.withDeadline(deadline))
                .build();
        limiters.add(limiter);
        return limiter;
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private static LimitRequest request() {
        return LimitRequest.of(ALICE, TEN);
    }

    /** The store is held: a caller that led the group would not return. */
    @Test
    void callerNeitherLeadsAGroupNorWaits() throws Exception {
        StoreRateLimiter limiter = limiter(held, Duration.ofSeconds(30));

        CompletableFuture<Decision> decision = limiter.decideAsync(request()).toCompletableFuture();

        HeldStore.Held group = held.next();
        assertThat(decision).isNotDone();
        assertThat(group.thread).isNotSameAs(Thread.currentThread());
        group.release();
        assertThat(get(decision).allowed()).isTrue();
    }

    @Test
    void blockingAndAsynchronousCallersShareGroups() throws Exception {
        StoreRateLimiter limiter = limiter(held, Duration.ofSeconds(30));
        var first = limiter.decideAsync(LimitRequest.of(Subject.user("first"), TEN));
        HeldStore.Held lone = held.next();
        var second = limiter.decideAsync(LimitRequest.of(Subject.user("second"), TEN));
        var third = limiter.peekAsync(LimitRequest.of(Subject.user("third"), TEN));
        CompletableFuture<Decision> fourth =
                CompletableFuture.supplyAsync(() -> limiter.decide(Subject.user("fourth"), TEN));
        await().until(() -> !held.hasAnother());
        lone.release();

        int decided = 0;
        while (decided < 3) {
            HeldStore.Held next = held.next();
            decided += next.size();
            next.release();
        }

        assertThat(get(first).allowed() && get(second).allowed() && get(third).allowed())
                .isTrue();
        assertThat(get(fourth).allowed()).isTrue();
    }

    @Test
    void continuationsRunOffTheWorkers() throws Exception {
        StoreRateLimiter limiter = limiter(held, Duration.ofSeconds(30));
        CountDownLatch blocked = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        var continued = limiter.decideAsync(request()).thenAccept(decision -> {
            thread.set(Thread.currentThread());
            try {
                blocked.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        HeldStore.Held group = held.next();
        group.release();
        await().until(() -> thread.get() != null);

        // The worker is free while the continuation blocks.
        var next = limiter.decideAsync(LimitRequest.of(Subject.user("next"), TEN));
        held.next().release();
        assertThat(get(next).allowed()).isTrue();

        assertThat(thread.get()).isNotSameAs(group.thread);
        assertThat(thread.get().getName()).doesNotContain("ratelimit-group");
        blocked.countDown();
        get(continued);
    }

    /** However many there are: with a pool of few threads, the next answer would wait for them. */
    @Test
    void continuationsThatBlockHoldNobodyUp() throws Exception {
        StoreRateLimiter limiter = limiter(held, Duration.ofSeconds(30));
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch blocking = new CountDownLatch(16);
        List<CompletableFuture<Void>> continued = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            continued.add(limiter.decideAsync(LimitRequest.of(Subject.user("user" + i), TEN))
                    .thenAccept(decision -> {
                        blocking.countDown();
                        try {
                            blocked.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    })
                    .toCompletableFuture());
            held.next().release();
        }
        assertThat(blocking.await(20, TimeUnit.SECONDS)).isTrue();

        var next = limiter.decideAsync(LimitRequest.of(Subject.user("next"), TEN));
        held.next().release();
        assertThat(get(next).allowed()).isTrue();

        blocked.countDown();
        for (CompletableFuture<Void> one : continued) {
            get(one);
        }
    }

    @Test
    void deadlinesHold() throws Exception {
        StoreRateLimiter limiter = limiter(held, Duration.ofMillis(50));

        Decision open = get(limiter.decideAsync(request().onFailure(FailurePolicy.OPEN)));
        Decision closed = get(
                limiter.decideAsync(LimitRequest.of(Subject.user("bob"), TEN).onFailure(FailurePolicy.CLOSED)));
        Decision local = get(limiter.decideAsync(LimitRequest.of(Subject.user("carol"), TEN)));

        assertThat(open.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(open.allowed()).isTrue();
        assertThat(closed.allowed()).isFalse();
        assertThat(local.local()).isTrue();
        assertThat(local.allowed()).isTrue();
        held.next().release();
    }

    @Test
    void storeThatFailsNeverFailsTheStage() throws Exception {
        StoreRateLimiter limiter = limiter(store.down(true), Duration.ofSeconds(10));

        int admitted = 0;
        for (int i = 0; i < 20; i++) {
            admitted += get(limiter.decideAsync(request())).allowed() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(10);
        assertThat(get(limiter.peekAsync(request())).remaining()).isZero();
        assertThat(get(limiter.reserveAsync(request())).decision().allowed()).isFalse();
    }

    @Test
    void cancellingKeepsTheCharge() throws Exception {
        StoreRateLimiter limiter = limiter(store, Duration.ofSeconds(30));
        CountDownLatch latch = new CountDownLatch(1);
        store.holdBefore(latch);
        var cancelled = limiter.decideAsync(request()).toCompletableFuture();
        await().until(() -> store.calls() == 1);

        assertThat(cancelled.cancel(true)).isTrue();
        latch.countDown();

        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> assertThat(get(limiter.peekAsync(request())).remaining())
                                .isEqualTo(9));
    }

    @Test
    void reservationsAreSettled() throws Exception {
        StoreRateLimiter limiter = limiter(store, Duration.ofSeconds(30));

        Reservation reserved =
                get(limiter.reserveAsync(LimitRequest.of(ALICE, TEN).cost(4)));
        assertThat(reserved.decision().remaining()).isEqualTo(6);
        assertThat(reserved.settle(1)).isTrue();

        assertThat(get(limiter.peekAsync(request())).remaining()).isEqualTo(9);
    }

    @Test
    void rememberedDenialIsGivenAtOnce() throws Exception {
        StoreRateLimiter limiter = limiter(store, Duration.ofSeconds(30));
        for (int i = 0; i < 11; i++) {
            get(limiter.decideAsync(request()));
        }
        int calls = store.calls();

        assertThat(limiter.decideAsync(request()).toCompletableFuture()).isDone();
        assertThat(get(limiter.decideAsync(request())).allowed()).isFalse();

        assertThat(store.calls()).isEqualTo(calls);
    }

    @Test
    void leasesServeAsynchronousCallersExactly() throws Exception {
        StoreRateLimiter limiter = limiter(store, Duration.ofSeconds(30));
        List<CompletableFuture<Decision>> all = new ArrayList<>();
        int admitted = 0;
        for (int i = 0; i < 12_000; i++) {
            all.add(limiter.decideAsync(LimitRequest.of(ALICE, LEASED)).toCompletableFuture());
            if (i % 50 == 0) {
                get(all.get(i));
            }
        }
        for (CompletableFuture<Decision> one : all) {
            admitted += get(one).allowed() ? 1 : 0;
        }

        assertThat(store.calls()).isLessThan(12_000);
        assertThat(admitted).isLessThanOrEqualTo(10_000).isGreaterThan(9_000);
    }

    /** Another caller is taking a lease, and the store is held: who waited for the lease would not be decided. */
    @Test
    void callerDoesNotWaitForALease() throws Exception {
        StoreRateLimiter limiter = limiter(store, Duration.ofMillis(200));
        get(limiter.decideAsync(LimitRequest.of(ALICE, LEASED)));
        CountDownLatch latch = new CountDownLatch(1);
        store.holdBefore(latch);
        var taking = limiter.decideAsync(LimitRequest.of(ALICE, LEASED));

        var other = limiter.decideAsync(LimitRequest.of(ALICE, LEASED));

        assertThat(get(other).local()).isTrue();
        assertThat(get(taking).allowed()).isTrue();
        latch.countDown();
    }

    @Test
    void revocableChargeIsGivenBackWholeAndItsDenialIsRemembered() throws Exception {
        SwitchedStore counting = new SwitchedStore(new MemoryLimitStore(new SettableClock()));
        StoreRateLimiter limiter = limiter(counting, Duration.ofSeconds(30));

        assertThat(get(limiter.chargeAsync(request())).giveBack()).isTrue();
        assertThat(limiter.peek(request()).remaining()).isEqualTo(10);

        assertThat(get(limiter.chargeAsync(request().cost(10))).decision().allowed())
                .isTrue();
        assertThat(get(limiter.chargeAsync(request())).decision().allowed()).isFalse();
        int calls = counting.calls();
        assertThat(get(limiter.chargeAsync(request())).decision().allowed()).isFalse();
        assertThat(counting.calls()).isEqualTo(calls);
    }

    @Test
    void revocableChargeIsServedByALeaseAndGivenBackToIt() throws Exception {
        StoreRateLimiter limiter = limiter(store, Duration.ofSeconds(30));
        LimitRequest leased = LimitRequest.of(ALICE, LEASED);
        get(limiter.chargeAsync(leased));
        long before = get(limiter.chargeAsync(leased)).decision().remaining();
        int calls = store.calls();

        Charged served = get(limiter.chargeAsync(leased));
        assertThat(served.decision().remaining()).isEqualTo(before - 1);
        assertThat(served.giveBack()).isTrue();
        assertThat(get(limiter.chargeAsync(leased)).decision().remaining()).isEqualTo(before - 1);
        assertThat(store.calls()).isEqualTo(calls);
    }

    @Test
    void storeInMemoryIsAskedDirectly() {
        StoreRateLimiter limiter = limiter(new MemoryLimitStore(), Duration.ofSeconds(1));

        assertThat(limiter.decideAsync(request()).toCompletableFuture()).isDone();
        assertThat(limiter.peekAsync(request()).toCompletableFuture()).isDone();
        assertThat(limiter.reserveAsync(request()).toCompletableFuture()).isDone();
        assertThat(limiter.chargeAsync(request()).toCompletableFuture()).isDone();
    }
}
