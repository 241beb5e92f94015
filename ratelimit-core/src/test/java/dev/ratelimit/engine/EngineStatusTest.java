package dev.ratelimit.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.engine.EngineStatus.Circuit;
import dev.ratelimit.engine.queue.HeldStore;
import dev.ratelimit.engine.queue.HeldStore.Held;
import dev.ratelimit.store.MemoryLimitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EngineStatusTest {

    private static final Limit TWO = Limit.named("two")
            .algorithm(Algorithms.atMost(2, Window.of(Duration.ofHours(1))))
            .build();
    private static final Limit LEASED = Limit.named("leased")
            .algorithm(Algorithms.atMost(1_000, Window.of(Duration.ofHours(1))))
            .lease(new Lease(100))
            .build();
    private static final Grouping PATIENT = Grouping.DEFAULT.withDeadline(Duration.ofSeconds(30));
    private static final Grouping QUICK = Grouping.DEFAULT.withDeadline(Duration.ofMillis(100));

    private final SwitchedStore store = new SwitchedStore(new MemoryLimitStore());

    private StoreRateLimiter limiter(Grouping grouping) {
        return StoreRateLimiter.builder(store, Limits.of(TWO, LEASED))
                .grouping(grouping)
                .build();
    }

    @Test
    void cachedDenialsAndCallsOfTheStoreAreCounted() {
        try (StoreRateLimiter limiter = limiter(PATIENT)) {
            for (int i = 0; i < 5; i++) {
                limiter.decide(Subject.user("alice"), "two");
            }
            EngineStatus status = limiter.status();

            assertThat(status.denials()).isEqualTo(new EngineStatus.Cache(2, 3, 1));
            assertThat(status.calls().count()).isEqualTo(3);
            assertThat(status.calls().requests()).isEqualTo(3);
            assertThat(status.calls().took()).isPositive();
        }
    }

    @Test
    void leasesAreCounted() {
        try (StoreRateLimiter limiter = limiter(PATIENT)) {
            for (int i = 0; i < 50; i++) {
                limiter.decide(Subject.user("alice"), "leased");
            }
            EngineStatus.Cache leases = limiter.status().leases();

            assertThat(leases.misses()).isEqualTo(1);
            assertThat(leases.hits()).isEqualTo(49);
            assertThat(leases.size()).isEqualTo(1);
        }
    }

    @Test
    void waitingRequestsAndGroupsAreSeen() throws Exception {
        HeldStore held = new HeldStore(false);
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(held, Limits.of(TWO))
                .grouping(PATIENT.withGroupsInFlight(1))
                .build()) {
            List<CompletableFuture<?>> decisions = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                decisions.add(limiter.decideAsync(LimitRequest.of(Subject.user("user" + i), "two"))
                        .toCompletableFuture());
            }
            Held first = held.next();
            assertThat(limiter.status().queue()).satisfies(queue -> {
                assertThat(queue.groups()).isEqualTo(1);
                assertThat(queue.mostGroups()).isEqualTo(1);
                assertThat(queue.waiting() + first.size()).isEqualTo(4);
                assertThat(queue.capacity()).isEqualTo(PATIENT.maxWaiting());
            });
            first.release();
            if (first.size() < 4) {
                held.next().release();
            }
            CompletableFuture.allOf(decisions.toArray(CompletableFuture[]::new)).join();
            assertThat(limiter.status().calls().requests()).isEqualTo(4);
        }
    }

    @Test
    void anIdleInstanceFindsOutThatTheStoreIsBack() {
        try (StoreRateLimiter limiter =
                StoreRateLimiter.builder(store, Limits.of(TWO)).grouping(QUICK).build()) {
            store.down(true);
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> limiter.probe().store().circuit() != Circuit.CLOSED);
            assertThat(limiter.status().store().available()).isFalse();

            store.down(false);
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> limiter.status().store().available());
            assertThat(limiter.status().store().circuit()).isEqualTo(Circuit.CLOSED);
        }
    }

    @Test
    void aStoreThatFailsIsSeenWithItsReasonAndIsProbed() {
        List<String> news = new ArrayList<>();
        StoreListener listener = new StoreListener() {
            @Override
            public void storeLost(String reason) {
                news.add("lost: " + reason);
            }

            @Override
            public void storeRegained(Duration unavailableFor) {
                news.add("regained after " + !unavailableFor.isNegative());
            }
        };
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of(TWO))
                .grouping(QUICK)
                .storeListeners(List.of(listener))
                .build()) {
            assertThat(limiter.probe().store().available()).isTrue();

            store.down(true);
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> limiter.probe().store().circuit() != Circuit.CLOSED);
            assertThat(limiter.status().store().available()).isFalse();
            assertThat(limiter.status().store().reason()).contains("the store is down");
            assertThat(news).singleElement().asString().startsWith("lost: ");

            store.down(false);
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> limiter.probe().store().available());
            assertThat(limiter.status().store().circuit()).isEqualTo(Circuit.CLOSED);
            assertThat(limiter.status().store().reason()).isNull();
            assertThat(news).hasSize(2).last().isEqualTo("regained after true");
        }
    }
}
