package dev.ratelimit.startup;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Subject;
import dev.ratelimit.connection.AwaitedLimitStore;
import dev.ratelimit.connection.PooledLimitStore;
import dev.ratelimit.engine.Grouping;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.shard.Shard;
import dev.ratelimit.store.shard.ShardedLimitStore;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Takes every way of a request once before the first request comes: classes are loaded, connections are open, statements are
 * prepared. Otherwise the first requests would miss their deadline.
 *
 * <ol>
 *   <li>Runs before the web server accepts requests.
 *   <li>On each connection of the store, decides on one limit of each kind, alone and in groups, for subjects that nobody
 *       else has.
 *   <li>Decides, peeks and refunds on each limit, through a limiter of its own with a long deadline, as often as there is time
 *       for.
 *   <li>Resets the subjects: no row stays behind.
 * </ol>
 *
 * It never fails the start, and holds it up for a few seconds at most.
 */
public final class WarmUp implements SmartInitializingSingleton {

    public static final Duration LONGEST = Duration.ofSeconds(5);

    private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

    private static final int ROUNDS = 20;
    private static final int MOST_LIMITS = 20;

    private final LimitStore store;
    private final Limits limits;
    private final Duration longest;

    // Of this process alone, so that nobody else waits for their rows.
    private final Subject nobody = Subject.of("warm-up", UUID.randomUUID().toString());
    private final Subject noOther = Subject.of("warm-up", UUID.randomUUID().toString());

    /**
     * @param longest how long it may hold up the start
     */
    public WarmUp(LimitStore store, Limits limits, Duration longest) {
        this.store = store;
        this.limits = limits;
        this.longest = longest;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (store.isImmediate() || (store instanceof AwaitedLimitStore awaited && !awaited.isOpen())) {
            return;
        }
        List<Limit> plain = plainLimits();
        // On a thread of its own, since a store may hang.
        Thread thread = DaemonThreads.named("ratelimit-warm-up").newThread(() -> warmUp(plain));
        thread.start();
        try {
            thread.join(longest.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            log.info("Starting before the rate limit store is warm; the first requests may be decided locally");
        }
    }

    /** Without leases and candidates, which would leave traces. */
    private List<Limit> plainLimits() {
        return limits.names().stream()
                .limit(MOST_LIMITS)
                .map(limits::get)
                .map(limit -> limit.renamed(limit.name()))
                .toList();
    }

    private void warmUp(List<Limit> plain) {
        long end = System.nanoTime() + longest.toNanos() * 3 / 4;
        List<Limit> kinds = oneOfEachKind(plain);
        if (store instanceof ShardedLimitStore sharded) {
            List<Shard> shards = sharded.shards();
            Duration each = longest.dividedBy(shards.size());
            shards.forEach(shard -> new WarmUp(shard.store(), limits, each).warmUp(plain));
            return;
        }
        if (store instanceof PooledLimitStore owned) {
            ignoringFailures(() -> owned.onEachConnection(() -> ignoringFailures(() -> prepare(kinds)), end));
        } else {
            ignoringFailures(() -> prepare(kinds));
        }
        ignoringFailures(() -> takeEveryWay(plain, end));
    }

    private static void ignoringFailures(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            log.debug("Ignoring a failure to warm up: {}", LogText.of(e.getMessage()), e);
        }
    }

    /** Limits of one kind are decided by the same statements. */
    private static List<Limit> oneOfEachKind(List<Limit> all) {
        Map<String, Limit> kinds = new LinkedHashMap<>();
        for (Limit limit : all) {
            kinds.putIfAbsent(
                    limit.algorithm().name()
                            + limit.hasMinInterval()
                            + limit.penalties().isEmpty(),
                    limit);
        }
        return List.copyOf(kinds.values());
    }

    private void prepare(List<Limit> kinds) {
        try {
            for (Limit limit : kinds) {
                List<Limit> alone = List.of(limit);
                store.decide(List.of(operation(Kind.PEEK, nobody, alone)));
                store.decide(List.of(operation(Kind.DECIDE, nobody, alone)));
                store.decide(List.of(operation(Kind.DECIDE, nobody, alone), operation(Kind.DECIDE, noOther, alone)));
            }
            if (kinds.size() > 1) {
                store.decide(List.of(operation(Kind.DECIDE, noOther, kinds)));
            }
        } finally {
            reset(kinds);
        }
    }

    private static Operation operation(Kind kind, Subject subject, List<Limit> limits) {
        List<Demand> demands = new ArrayList<>();
        for (Limit limit : limits) {
            demands.add(new Demand(subject, limit, limit.cost()));
        }
        return new Operation(kind, demands);
    }

    private void reset(List<Limit> charged) {
        if (!charged.isEmpty()) {
            store.decide(List.of(operation(Kind.RESET, nobody, charged), operation(Kind.RESET, noOther, charged)));
        }
    }

    private void takeEveryWay(List<Limit> plain, long end) {
        Grouping patient = Grouping.DEFAULT
                .withGroupsInFlight(Math.max(1, store.groupsAtOnce()))
                .withDeadline(longest);
        try (StoreRateLimiter limiter = StoreRateLimiter.builder(new Forgiving(store), Limits.of())
                .grouping(patient)
                .rememberedDenials(0)
                .build()) {
            for (int round = 0; round < ROUNDS && System.nanoTime() - end < 0; round++) {
                for (Limit limit : plain) {
                    // Without debts, which would be brought to the store later.
                    LimitRequest request = LimitRequest.of(nobody, limit).onFailure(FailurePolicy.CLOSED);
                    limiter.decide(request);
                    limiter.peek(request);
                    limiter.reserve(request).refund();
                }
            }
        } finally {
            reset(plain);
        }
    }

    /**
     * Answers from memory if the store fails: the limiter of the warm-up would log an outage, although no request was concerned. A
     * store that has failed several times in a row is not asked any more.
     */
    private static final class Forgiving extends ForwardingLimitStore {

        private static final int MOST_FAILURES = 3;

        private final LimitStore memory = new MemoryLimitStore();
        private final AtomicInteger failures = new AtomicInteger();

        private Forgiving(LimitStore store) {
            super(store);
        }

        @Override
        public List<Answer> decide(List<Operation> group) {
            if (failures.get() < MOST_FAILURES) {
                try {
                    List<Answer> answers = super.decide(group);
                    failures.set(0);
                    return answers;
                } catch (RuntimeException e) {
                    log.debug("Ignoring a failure to warm up: {}", LogText.of(e.getMessage()), e);
                    failures.incrementAndGet();
                }
            }
            return memory.decide(group);
        }
    }
}
