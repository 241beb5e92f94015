package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Outcome;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.engine.EngineStatus.Circuit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store of three parts, of which one hangs or fails. */
@Timeout(60)
class StorePartsTest {

    private static final Limit MANY = Limit.named("many")
            .algorithm(new FixedWindow(1_000_000, Duration.ofHours(1)))
            .build();
    private static final Limit TEN = Limit.named("ten")
            .algorithm(new FixedWindow(10, Duration.ofHours(1)))
            .build();
    private static final Grouping PATIENT = Grouping.DEFAULT.withDeadline(Duration.ofSeconds(50));
    private static final Grouping QUICK = Grouping.DEFAULT.withDeadline(Duration.ofMillis(100));

    private final PartedStore store = new PartedStore();
    private final List<String> news = new CopyOnWriteArrayList<>();
    private final List<StoreRateLimiter> limiters = new ArrayList<>();

    private StoreRateLimiter limiter(Grouping grouping) {
        StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(MANY, TEN))
                .grouping(grouping)
                .storeListeners(List.of(new StoreListener() {
                    @Override
                    public void storeLost(String reason) {
                        news.add("lost: " + reason);
                    }

                    @Override
                    public void storeRegained(Duration unavailableFor) {
                        news.add("regained");
                    }
                }))
                .build();
        limiters.add(limiter);
        return limiter;
    }

    @AfterEach
    void close() {
        limiters.forEach(StoreRateLimiter::close);
    }

    private static Subject in(int part) {
        return Subject.user("user" + part);
    }

    /** A request that needs all these parts, and fails without them. */
    private static LimitRequest request(int... parts) {
        LimitRequest request = LimitRequest.of(in(parts[0]), "many");
        for (int i = 1; i < parts.length; i++) {
            request = request.and(in(parts[i]), "many");
        }
        return request.onFailure(FailurePolicy.CLOSED);
    }

    private static void awaitOpen(StoreRateLimiter limiter, int part) {
        await().until(() -> {
            limiter.decide(request(part));
            return limiter.status().store().openParts() == 1;
        });
    }

    /** The breaker is open when the group comes back; the answers in it show that the part is well. */
    @Test
    void partThatHasDecidedSomeOfAGroupHasNotFailed() throws Exception {
        StoreRateLimiter limiter = limiter(Grouping.DEFAULT.withDeadline(Duration.ofSeconds(4)));
        Subject bad = Subject.user("bad1");
        LimitRequest failing = LimitRequest.of(bad, "many").onFailure(FailurePolicy.CLOSED);
        CountDownLatch over = new CountDownLatch(1);
        store.unusable(bad);
        store.hold(1, over);
        CompletableFuture<Decision> alone = limiter.decideAsync(failing).toCompletableFuture();
        await().until(() -> store.calls(1) == 1);
        TimeUnit.MILLISECONDS.sleep(2_500);
        CompletableFuture<Decision> good = limiter.decideAsync(request(1)).toCompletableFuture();
        CompletableFuture<Decision> withIt = limiter.decideAsync(failing).toCompletableFuture();
        assertThat(alone.get(40, TimeUnit.SECONDS).outcome()).isEqualTo(Outcome.FAILED); // after the deadline

        over.countDown();

        assertThat(good.get(40, TimeUnit.SECONDS).outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(limiter.status().store().openParts()).isZero();
        assertThat(withIt.get(40, TimeUnit.SECONDS).outcome()).isEqualTo(Outcome.FAILED);
    }

    @Test
    void partThatHangsHoldsUpOnlyItsOwnRequests() throws Exception {
        StoreRateLimiter limiter = limiter(PATIENT);
        CountDownLatch over = new CountDownLatch(1);
        store.hold(1, over);
        List<CompletableFuture<Decision>> hanging = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            hanging.add(limiter.decideAsync(request(1)).toCompletableFuture());
            hanging.add(limiter.decideAsync(request(0, 1)).toCompletableFuture());
        }
        await().until(() -> store.calls(1) == 2); // a group of that part, and one that needs two

        ExecutorService callers = Executors.newFixedThreadPool(8);
        try {
            List<Future<Decision>> others = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                int part = i % 2 == 0 ? 0 : 2;
                others.add(callers.submit(() -> limiter.decide(request(part))));
            }
            for (Future<Decision> one : others) {
                assertThat(one.get(40, TimeUnit.SECONDS).outcome()).isEqualTo(Outcome.ALLOWED);
            }
        } finally {
            callers.shutdownNow();
        }
        assertThat(hanging).as("answered before the others").noneMatch(CompletableFuture::isDone);
        assertThat(limiter.status().store().available()).isTrue();
        assertThat(limiter.status().queue().capacity()).isEqualTo(4 * PATIENT.maxWaiting());
        assertThat(limiter.status().queue().groups()).isGreaterThanOrEqualTo(2);

        over.countDown();
        for (CompletableFuture<Decision> one : hanging) {
            assertThat(one.join().outcome()).isEqualTo(Outcome.ALLOWED);
        }
    }

    @Test
    void partThatFailsFailsOnlyItsOwnRequestsAndIsTriedAgain() {
        StoreRateLimiter limiter = limiter(QUICK);
        assertThat(limiter.decide(request(0)).allowed()).isTrue();
        assertThat(limiter.decide(request(1)).allowed()).isTrue();
        assertThat(limiter.decide(request(2)).allowed()).isTrue();
        assertThat(limiter.decide(request(0, 2)).allowed()).isTrue();
        assertThat(limiter.status().store())
                .isEqualTo(new EngineStatus.Store(true, Circuit.CLOSED, null, Duration.ZERO, 3, 0));

        store.down(1, true);
        awaitOpen(limiter, 1);
        for (int i = 0; i < 100; i++) {
            assertThat(limiter.decide(request(i % 2 == 0 ? 0 : 2)).outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(limiter.decide(request(0, 2)).outcome()).isEqualTo(Outcome.ALLOWED);
            assertThat(limiter.decide(request(1)).outcome()).isEqualTo(Outcome.FAILED);
        }
        EngineStatus.Store lost = limiter.status().store();
        assertThat(lost.available()).isFalse();
        assertThat(lost.circuit()).isNotEqualTo(Circuit.CLOSED);
        assertThat(lost.parts()).isEqualTo(3);
        assertThat(lost.openParts()).isEqualTo(1);
        assertThat(lost.reason()).isEqualTo("1 of 3 parts: parts [1] are down");
        assertThat(news).containsExactly("lost: 1 of 3 parts: parts [1] are down");

        int asked = store.calls(1);
        await().until(() -> {
            limiter.decide(request(1));
            return store.calls(1) > asked;
        });
        assertThat(limiter.status().store().openParts()).as("tried in vain").isEqualTo(1);

        store.down(1, false);
        await().until(() -> limiter.decide(request(1)).allowed());
        await().until(() -> {
            limiter.decide(request(1));
            return limiter.status().store().available();
        });
        assertThat(limiter.status().store().circuit()).isEqualTo(Circuit.CLOSED);
        assertThat(news).hasSize(2).last().isEqualTo("regained");
    }

    @Test
    void requestOverTwoPartsFailsAtOnceWhileOneIsDown() {
        StoreRateLimiter limiter = limiter(QUICK);
        limiter.decide(request(0));
        limiter.decide(request(2));
        store.down(1, true);
        awaitOpen(limiter, 1);

        // One request each half second tries the part that is down; all others ask nothing.
        int asked = store.calls(0);
        int tried = store.calls(1);
        for (int i = 0; i < 50; i++) {
            assertThat(limiter.decide(request(0, 1)).outcome()).isEqualTo(Outcome.FAILED);
        }
        assertThat(store.calls(0) - asked).isEqualTo(store.calls(1) - tried).isLessThan(50);
        assertThat(limiter.status().store().openParts()).isEqualTo(1);
        assertThat(limiter.decide(request(0)).outcome()).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void requestOverTwoPartsBlamesThePartThatFailed() {
        limiter(PATIENT).decide(request(0, 1, 2)); // a cold process is slower than the deadline
        StoreRateLimiter limiter = limiter(QUICK);
        limiter.decide(request(0, 2));
        store.down(1, true);
        await().until(() -> {
            limiter.decide(request(0, 1));
            return limiter.status().store().openParts() == 1;
        });

        assertThat(limiter.decide(request(0)).outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(limiter.decide(request(1)).outcome()).isEqualTo(Outcome.FAILED);
        assertThat(limiter.status().store().reason()).startsWith("1 of 3 parts: ");

        store.down(1, false);
        await().until(() -> limiter.decide(request(0, 1)).allowed());
        assertThat(limiter.status().store().openParts()).isZero();
    }

    /** A part is tried once for each request, however many of its subjects are in it. */
    @Test
    void requestOverTwoSubjectsOfThePartThatIsBackTriesIt() {
        StoreRateLimiter limiter = limiter(QUICK);
        LimitRequest request = request(0, 1).and(Subject.user("another1"), "many");
        store.down(1, true);
        await().until(() -> {
            limiter.decide(request);
            return limiter.status().store().openParts() == 1;
        });

        store.down(1, false);
        await().until(() -> limiter.decide(request).allowed());
    }

    @Test
    void failureThatNamesNoPartCountsForAllPartsOfTheRequest() {
        StoreRateLimiter limiter = limiter(QUICK);
        limiter.decide(request(0, 2));
        store.namesParts(false);
        store.down(1, true);

        await().until(() -> {
            limiter.decide(request(0, 1));
            return limiter.status().store().openParts() == 2;
        });
        assertThat(limiter.decide(request(2)).outcome()).isEqualTo(Outcome.ALLOWED);
        await().until(() -> limiter.decide(request(0)).allowed());
        assertThat(limiter.status().store().openParts()).isEqualTo(1);
    }

    @Test
    void eachPartHasItsOwnRoomForWaitingRequests() {
        StoreRateLimiter limiter = limiter(PATIENT.withMaxWaiting(1));
        CountDownLatch over = new CountDownLatch(1);
        store.hold(1, over);
        var first = limiter.decideAsync(request(1)).toCompletableFuture();
        await().until(() -> store.calls(1) == 1);
        var second = limiter.decideAsync(request(1)).toCompletableFuture();

        assertThat(limiter.decide(request(1)).outcome()).isEqualTo(Outcome.OVERLOADED);
        assertThat(limiter.decide(request(0)).outcome()).isEqualTo(Outcome.ALLOWED);

        over.countDown();
        assertThat(first.join().allowed()).isTrue();
        assertThat(second.join().allowed()).isTrue();
    }

    /** The debts of a part that is down stay where they are until it is back. */
    @Test
    void permitsGrantedWithoutAPartAreChargedThereAndOnlyThere() {
        StoreRateLimiter limiter = limiter(QUICK);
        LimitRequest local = LimitRequest.of(in(1), "ten");
        store.down(1, true);
        awaitOpen(limiter, 1);
        int granted = 0;
        for (int i = 0; i < 4; i++) {
            Decision decision = limiter.decide(local);
            assertThat(decision.local()).isTrue();
            granted += decision.allowed() ? 1 : 0;
            assertThat(limiter.decide(request(0)).allowed()).isTrue();
        }
        assertThat(granted).isEqualTo(4);

        store.down(1, false);
        await().until(() -> limiter.decide(request(1)).allowed());
        StoreRateLimiter other = limiter(PATIENT);
        await().until(() -> other.peek(local).remaining() == 6);
        assertThat(store.mixedGroups()).isZero();
    }

    @Test
    void probeAsksEveryPart() {
        StoreRateLimiter limiter = limiter(QUICK);
        limiter.decide(request(0));
        limiter.decide(request(1));
        store.down(1, true);
        await().until(() -> !limiter.probe().store().available());

        store.down(1, false);
        await().until(() -> limiter.probe().store().available());
    }

    @Test
    void partThatHoldsNothingAnyMoreIsForgotten() {
        StoreRateLimiter limiter = limiter(QUICK);
        limiter.decide(request(0));
        store.down(1, true);
        awaitOpen(limiter, 1);

        store.move(1, 2);

        assertThat(limiter.decide(request(1)).outcome()).isEqualTo(Outcome.ALLOWED);
        EngineStatus.Store status = limiter.status().store();
        assertThat(status.available()).isTrue();
        assertThat(status.openParts()).isZero();
        assertThat(news).hasSize(2);
    }
}
