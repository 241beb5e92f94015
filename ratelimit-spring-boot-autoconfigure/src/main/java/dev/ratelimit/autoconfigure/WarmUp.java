package dev.ratelimit.autoconfigure;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Takes every way of a request once before the first request comes: classes are loaded, connections are open, statements are
 * prepared. Otherwise the first requests would miss their deadline.
 *
 * <ol>
 *   <li>Runs before the web server accepts requests, through a limiter of its own with a long deadline.
 *   <li>Decides, peeks and refunds on each limit, for a subject that nobody else has.
 *   <li>Decides on each connection of the store.
 *   <li>Resets the subject: no row stays behind.
 * </ol>
 *
 * It never fails the start, and ends after a few seconds at the latest.
 */
final class WarmUp implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

    private static final int ROUNDS = 20;
    private static final int MOST_LIMITS = 20;
    private static final Duration LONGEST = Duration.ofSeconds(5);

    private final LimitStore store;
    private final Limits limits;
    private final int connections;

    /**
     * @param connections how many the store has
     */
    WarmUp(LimitStore store, Limits limits, int connections) {
        this.store = store;
        this.limits = limits;
        this.connections = connections;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (store.isImmediate()) {
            return;
        }
        Grouping patient = Grouping.DEFAULT
                .withGroupsInFlight(Math.max(1, store.groupsAtOnce()))
                .withDeadline(LONGEST);
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of())
                .grouping(patient)
                .rememberedDenials(0)
                .build()) {
            long end = System.nanoTime() + LONGEST.toNanos();
            onThreads(patient.groupsInFlight(), () -> takeEveryWay(limiter, end));
            onThreads(connections, () -> askTheStore(end));
        } catch (RuntimeException e) {
            log.debug("Ignoring a failure to warm up: {}", e.getMessage(), e);
        }
    }

    private static void onThreads(int number, Runnable work) {
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            threads.add(CompletableFuture.runAsync(work, thread -> new Thread(thread, "ratelimit-warm-up").start()));
        }
        CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).join();
    }

    /** Without groups: each thread has a connection of its own, on which the statements are prepared. */
    private void askTheStore(long end) {
        Subject nobody = nobody();
        for (Limit limit : plainLimits()) {
            List<Demand> demand = List.of(new Demand(nobody, limit, limit.cost()));
            for (int round = 0; round < ROUNDS && System.nanoTime() - end < 0; round++) {
                store.decide(List.of(new Operation(Operation.Kind.DECIDE, demand)));
            }
            store.decide(List.of(new Operation(Operation.Kind.RESET, demand)));
        }
    }

    private static Subject nobody() {
        return Subject.of("warm-up", UUID.randomUUID().toString());
    }

    /** Without leases and candidates, which would leave traces. */
    private List<Limit> plainLimits() {
        return limits.names().stream()
                .limit(MOST_LIMITS)
                .map(limits::get)
                .map(limit -> limit.renamed(limit.name()))
                .toList();
    }

    private void takeEveryWay(StoreRateLimiter limiter, long end) {
        Subject nobody = nobody();
        List<Limit> plain = plainLimits();
        try {
            for (int round = 0; round < ROUNDS && System.nanoTime() - end < 0; round++) {
                for (Limit limit : plain) {
                    LimitRequest request = LimitRequest.of(nobody, limit);
                    limiter.decide(request);
                    limiter.peek(request);
                    limiter.reserve(request).refund();
                }
            }
        } finally {
            plain.forEach(limit -> limiter.reset(LimitRequest.of(nobody, limit)));
        }
    }
}
