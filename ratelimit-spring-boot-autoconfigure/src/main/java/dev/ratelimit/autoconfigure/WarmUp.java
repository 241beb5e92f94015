package dev.ratelimit.autoconfigure;

import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.LimitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Takes every way of a request once before the first request comes: classes are loaded, connections are open, statements are
 * prepared. Otherwise the first requests would miss their deadline.
 *
 * <ol>
 *   <li>Runs before the web server accepts requests, through a limiter of its own with a long deadline.
 *   <li>Decides, peeks and refunds on each limit, for a subject that nobody else has, on as many threads as there are groups at
 *       the store at once, so that each uses a connection.
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

    WarmUp(LimitStore store, Limits limits) {
        this.store = store;
        this.limits = limits;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (store.isImmediate()) {
            return;
        }
        int groups = Math.max(1, store.groupsAtOnce());
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(store, Limits.of())
                .grouping(Grouping.DEFAULT.withGroupsInFlight(groups).withDeadline(LONGEST))
                .rememberedDenials(0)
                .build()) {
            long end = System.nanoTime() + LONGEST.toNanos();
            List<CompletableFuture<Void>> threads = new ArrayList<>();
            for (int i = 0; i < groups; i++) {
                threads.add(CompletableFuture.runAsync(
                        () -> takeEveryWay(limiter, end), work -> new Thread(work, "ratelimit-warm-up").start()));
            }
            CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).join();
        } catch (CompletionException e) {
            log.debug("Ignoring a failure to warm up: {}", e.getMessage(), e);
        }
    }

    private void takeEveryWay(StoreRateLimiter limiter, long end) {
        Subject nobody = Subject.of("warm-up", UUID.randomUUID().toString());
        List<Limit> plain = limits.names().stream()
                .limit(MOST_LIMITS)
                .map(limits::get)
                .map(limit -> limit.renamed(limit.name()))
                .toList();
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
