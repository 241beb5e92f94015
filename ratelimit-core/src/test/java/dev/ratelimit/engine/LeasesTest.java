package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Charge;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.engine.lease.Leases;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.engine.queue.WorkQueue;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.support.Micros;
import dev.ratelimit.testing.SettableClock;
import dev.ratelimit.testing.TestSeed;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LeasesTest {

    private static final Subject ALICE = Subject.user("alice");
    private static final Limit THOUSAND = Limit.named("thousand")
            .algorithm(new FixedWindow(1000, Duration.ofHours(1)))
            .lease(new Lease(100))
            .build();

    private final SettableClock clock = new SettableClock();
    private final CountingStore store = new CountingStore(clock);
    private final StoreRateLimiter limiter = limiter(store);

    private StoreRateLimiter limiter(CountingStore over) {
        return StoreRateLimiter.builder(over, Limits.of(THOUSAND))
                .grouping(Grouping.DEFAULT)
                .rememberedDenials(0)
                .nanoTime(() -> Micros.of(clock.instant()) * 1000)
                .build();
    }

    private long remainingInStore(Limit limit) {
        return limiter.peek(LimitRequest.of(ALICE, limit)).remaining();
    }

    @Test
    void hotSubjectIsServedWithoutAskingTheStoreEachTime() {
        for (int i = 0; i < 300; i++) {
            assertThat(limiter.decide(ALICE, THOUSAND).allowed()).isTrue();
        }

        assertThat(store.asked()).isLessThan(10);
    }

    @Test
    void permitThatIsGivenBackIsServedAgain() {
        LimitRequest request = LimitRequest.of(ALICE, THOUSAND);
        limiter.decide(request);
        limiter.decide(request);
        int before = store.asked();
        int admitted = 0;
        for (int i = 0; i < 50; i++) {
            Charged charged = limiter.charge(request);
            assertThat(charged.decision().allowed()).isTrue();
            assertThat(charged.giveBack()).isTrue();
        }
        assertThat(store.asked()).as("all from the lease, and back to it").isEqualTo(before);

        while (limiter.charge(request).decision().allowed()) {
            admitted++;
        }
        assertThat(admitted).isEqualTo(998);
    }

    @Test
    void permitOfALeaseThatIsGoneStaysCharged() {
        LimitRequest request = LimitRequest.of(ALICE, THOUSAND);
        limiter.decide(request);
        limiter.decide(request);
        Charged charged = limiter.charge(request);
        limiter.forgetLocally(ALICE, "thousand");

        assertThat(charged.giveBack()).isFalse();
    }

    @Test
    void exactlyTheLimitIsAdmitted() {
        int admitted = 0;
        for (int i = 0; i < 1500; i++) {
            admitted += limiter.decide(ALICE, THOUSAND).allowed() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(1000);
    }

    @Test
    void manyCallersAreAdmittedNoMoreThanTheLimit() throws Exception {
        AtomicInteger admitted = new AtomicInteger();
        List<CompletableFuture<Void>> callers = new ArrayList<>();
        try (StoreRateLimiter second = limiter(store)) {
            for (int caller = 0; caller < 16; caller++) {
                StoreRateLimiter instance = caller % 2 == 0 ? limiter : second;
                callers.add(CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < 200; i++) {
                        if (instance.decide(ALICE, THOUSAND).allowed()) {
                            admitted.incrementAndGet();
                        }
                    }
                }));
            }
            CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        }
        limiter.close();

        // The permits that one instance still held when the other was denied have gone back.
        assertThat(admitted.get() + remainingInStore(THOUSAND)).isEqualTo(1000);
    }

    @Test
    void whatIsServedFromALeaseIsMarkedApproximate() {
        limiter.decide(ALICE, THOUSAND);
        limiter.decide(ALICE, THOUSAND);

        Decision third = limiter.decide(ALICE, THOUSAND);

        assertThat(third.tightest().approximate()).isTrue();
        assertThat(third.remaining()).isEqualTo(997);
        assertThat(limiter.peek(LimitRequest.of(ALICE, THOUSAND)).tightest().approximate())
                .isFalse();
    }

    @Test
    void unusedPermitsGoBackWhenTheLimiterIsClosed() {
        limiter.decide(ALICE, THOUSAND);
        limiter.decide(ALICE, THOUSAND);
        assertThat(remainingInStore(THOUSAND)).isEqualTo(1000 - 1 - 100);

        limiter.close();

        assertThat(remainingInStore(THOUSAND)).isEqualTo(998);
    }

    @Test
    void permitsOfAWindowAreNotServedInTheNext() {
        limiter.decide(ALICE, THOUSAND);
        limiter.decide(ALICE, THOUSAND);
        clock.move(Duration.ofHours(1));
        int admitted = 0;
        for (int i = 0; i < 1200; i++) {
            admitted += limiter.decide(ALICE, THOUSAND).allowed() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(1000);
    }

    @Test
    void resetDropsWhatIsHeld() {
        limiter.decide(ALICE, THOUSAND);
        limiter.decide(ALICE, THOUSAND);
        limiter.reset(LimitRequest.of(ALICE, THOUSAND));
        int admitted = 0;
        for (int i = 0; i < 1200; i++) {
            admitted += limiter.decide(ALICE, THOUSAND).allowed() ? 1 : 0;
        }

        assertThat(admitted).isEqualTo(1000);
    }

    @Test
    void whatIsLeftOfALeaseThatIsReplacedGoesBack() {
        int admitted = 0;
        for (int i = 0; i < 200; i++) {
            admitted += limiter.decide(ALICE, THOUSAND).allowed() ? 1 : 0;
            LimitRequest large = LimitRequest.of(ALICE, THOUSAND).cost(40);
            admitted += limiter.decide(large).allowed() ? 40 : 0;
        }
        limiter.close();

        assertThat(admitted + remainingInStore(THOUSAND)).isEqualTo(1000);
        assertThat(admitted).isGreaterThan(960);
    }

    @Test
    void aChangeOfThePolicyLeavesWhatIsHeldAsItIs() {
        limiter.decide(ALICE, THOUSAND);
        limiter.decide(ALICE, THOUSAND);
        int before = store.asked();

        limiter.forgetDenials();
        limiter.decide(ALICE, THOUSAND);

        assertThat(store.asked()).isEqualTo(before);
    }

    /** The requests to the workers, each held until the test answers it; everything is allowed, and much remains. */
    private static final class HeldQueue implements WorkQueue {

        private final BlockingQueue<Pending> asked = new LinkedBlockingQueue<>();

        @Override
        public void submitLater(Pending pending) {
            asked.add(pending);
        }

        Pending next() throws InterruptedException {
            return Objects.requireNonNull(asked.poll(10, TimeUnit.SECONDS), "nothing was asked");
        }

        static Answer yes(Pending pending) {
            Demand demand = pending.operation.demands().get(0);
            return new Answer(0, List.of(verdict(demand.cost())));
        }

        static Verdict verdict(long cost) {
            return new Verdict(Outcome.ALLOWED, 1000, 0, 0, 0, 0, new Charge(0, cost, 0));
        }

        static void answer(Pending pending) {
            Pending.complete(List.of(pending), place -> yes(pending));
        }
    }

    private static final Demand ONE = new Demand(ALICE, THOUSAND, 1);

    private static Leases leases(WorkQueue queue, Duration deadline) {
        Leases leases = new Leases(queue, limit -> true, key -> false, deadline, () -> 0);
        leases.observe(ONE, HeldQueue.verdict(1));
        return leases;
    }

    @Test
    void aLeaseThatComesTooLateGoesBack() throws Exception {
        HeldQueue queue = new HeldQueue();
        Leases leases = leases(queue, Duration.ofSeconds(10));

        assertThat(leases.serve(ONE, System.nanoTime() + Duration.ofMillis(20).toNanos()))
                .isNull();
        Pending late = queue.next();
        assertThat(late.operation.kind()).isEqualTo(Operation.Kind.DECIDE);
        HeldQueue.answer(late);

        Pending givenBack = queue.next();
        assertThat(givenBack.operation.kind()).isEqualTo(Operation.Kind.SETTLE);
        assertThat(givenBack.operation.demands().get(0).cost()).isZero();
    }

    @Test
    @Timeout(30)
    void timeThatWasWaitedForALeaseIsNotWaitedForTheStoreAgain() throws Exception {
        Duration deadline = Duration.ofSeconds(1);
        CountDownLatch stalled = new CountDownLatch(1);
        StoreRateLimiter impatient = StoreRateLimiter.builder(store, Limits.of(THOUSAND))
                .grouping(Grouping.DEFAULT.withDeadline(deadline))
                .rememberedDenials(0)
                .build();
        assertThat(impatient.decide(ALICE, THOUSAND).allowed()).isTrue();
        store.afterDeciding(() -> {
            try {
                stalled.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });

        long start = System.nanoTime();
        Decision decision = impatient.decide(LimitRequest.of(ALICE, THOUSAND).onFailure(FailurePolicy.OPEN));

        assertThat(decision.outcome().isDecided()).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(deadline.multipliedBy(2));
        assertThat(store.asked()).isLessThanOrEqualTo(2); // for the first request, and for a lease
        stalled.countDown();
    }

    @Test
    void whatIsBeingTakenWhenTheLimiterIsClosedGoesBack() throws Exception {
        HeldQueue queue = new HeldQueue();
        Leases leases = leases(queue, Duration.ofSeconds(10));
        CompletableFuture<Leases.Served> taking = CompletableFuture.supplyAsync(() ->
                leases.serve(ONE, System.nanoTime() + Duration.ofSeconds(10).toNanos()));
        Pending taken = queue.next();

        CompletableFuture<Void> closing = CompletableFuture.runAsync(leases::close);
        HeldQueue.answer(taken);

        assertThat(taking.get(10, TimeUnit.SECONDS)).isNotNull();
        Pending givenBack = queue.next();
        assertThat(givenBack.operation.kind()).isEqualTo(Operation.Kind.SETTLE);
        assertThat(givenBack.operation.demands().get(0).cost()).isEqualTo(1);
        HeldQueue.answer(givenBack);
        closing.get(10, TimeUnit.SECONDS);
        assertThat(leases.serve(ONE, System.nanoTime() + Duration.ofSeconds(10).toNanos()))
                .isNull();
    }

    @Test
    void whatIsHeldForOneTierIsNotLostToAnother() {
        Limit small = Limit.named("thousand")
                .algorithm(new FixedWindow(10, Duration.ofHours(1)))
                .lease(new Lease(100))
                .build();
        List<Operation> asked = new CopyOnWriteArrayList<>();
        Leases leases = leases(
                pending -> {
                    asked.add(pending.operation);
                    HeldQueue.answer(pending);
                },
                Duration.ofSeconds(10));
        long deadline = Duration.ofSeconds(10).toNanos();

        assertThat(leases.serve(ONE, deadline)).isNotNull();
        assertThat(leases.serve(new Demand(ALICE, small, 1), deadline)).isNull();
        assertThat(leases.serve(ONE, deadline)).isNotNull();

        assertThat(asked).hasSize(1);
    }

    @Test
    void onlySoManySubjectsAreHot() {
        AtomicInteger asked = new AtomicInteger();
        Leases leases = leases(
                pending -> {
                    asked.incrementAndGet();
                    HeldQueue.answer(pending);
                },
                Duration.ofSeconds(10));
        for (int i = 0; i < 30_000; i++) {
            leases.observe(new Demand(Subject.user("user" + i), THOUSAND, 1), HeldQueue.verdict(1));
        }

        long served = IntStream.range(0, 30_000)
                .filter(i -> leases.serve(new Demand(Subject.user("user" + i), THOUSAND, 1), 1_000_000_000L) != null)
                .count();

        assertThat(served).isLessThanOrEqualTo(10_000);
        assertThat(asked).hasValueLessThanOrEqualTo(10_000);
        leases.close();
        // All of them have gone back.
        assertThat(asked).hasValue(2 * (int) served);
    }

    @Test
    void limitsThatLookAtTheMomentOfEachRequestAreRefused() {
        assertThatThrownBy(() -> Limit.named("log")
                        .algorithm(new SlidingLog(5, Duration.ofMinutes(1)))
                        .lease(Lease.AUTO)
                        .build())
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("a sliding-log counts each request at its own moment");
        assertThatThrownBy(() -> Limit.named("penal")
                        .algorithm(new FixedWindow(5, Duration.ofMinutes(1)))
                        .penalty(1, Duration.ofMinutes(1))
                        .lease(Lease.AUTO)
                        .build())
                .isInstanceOf(InvalidLimitException.class)
                .hasMessageContaining("penalties count each request that is denied");
    }

    static List<Limit> leased() {
        return List.of(
                Limit.named("fixed")
                        .algorithm(new FixedWindow(60, Duration.ofSeconds(10)))
                        .lease(new Lease(20))
                        .build(),
                Limit.named("calendar")
                        .algorithm(new FixedWindow(90, Window.CalendarUnit.HOUR, ZoneId.of("Asia/Kolkata")))
                        .lease(new Lease(10))
                        .build(),
                Limit.named("sliding")
                        .algorithm(new SlidingWindow(60, Duration.ofSeconds(10)))
                        .lease(Lease.AUTO)
                        .build(),
                Limit.named("bucket")
                        .algorithm(new TokenBucket(40, Rate.perSecond(9)))
                        .lease(new Lease(30))
                        .build(),
                Limit.named("leaky")
                        .algorithm(new LeakyBucket(40, Rate.perSecond(9)))
                        .lease(Lease.AUTO)
                        .build());
    }

    /**
     * Two instances with leases share a store. Whatever they admit, a limiter without leases that sees just these requests,
     * each when it is served, must have room for.
     */
    @ParameterizedTest
    @MethodSource("leased")
    void noMoreIsAdmittedThanIfEachWereChargedWhenItIsServed(Limit limit) {
        TestSeed seed = TestSeed.of("LeasesTest, " + limit.name());
        for (int history = 0; history < 30; history++) {
            RandomGenerator random = seed.history(history);
            CountingStore shared = new CountingStore(clock);
            try (StoreRateLimiter first = limiter(shared);
                    StoreRateLimiter second = limiter(shared);
                    StoreRateLimiter model = StoreRateLimiter.builder(new MemoryLimitStore(clock), Limits.of(limit))
                            .build()) {
                for (int i = 0; i < 1000; i++) {
                    if (random.nextInt(4) == 0) {
                        clock.move(Duration.ofMillis(random.nextInt(random.nextInt(40) == 0 ? 9000 : 200)));
                    }
                    StoreRateLimiter instance = random.nextInt(3) == 0 ? first : second;
                    LimitRequest request = LimitRequest.of(ALICE, limit).cost(1 + random.nextInt(2));
                    if (instance.decide(request).allowed()) {
                        assertThat(model.decide(request).allowed())
                                .as("%s, history %d, step %d", seed, history, i)
                                .isTrue();
                    }
                }
            }
        }
    }
}
