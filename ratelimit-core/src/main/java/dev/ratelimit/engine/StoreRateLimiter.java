package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Micros;
import dev.ratelimit.Outcome;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rate limiter over a store. Requests that wait at the same moment are decided in one call of the store; see
 * {@link Lane}.
 */
public final class StoreRateLimiter implements RateLimiter, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(StoreRateLimiter.class);

    /** How long a store that has failed is left alone before it is asked again. */
    private static final Duration BREAK = Duration.ofSeconds(1);

    private final Limits limits;
    private final Lane[] lanes;
    private final ThreadPoolExecutor workers;
    private final Duration deadline;
    private final List<DecisionListener> listeners;
    private final Breaker breaker;
    private final StoreHealth health = new StoreHealth();

    public StoreRateLimiter(LimitStore store, Limits limits) {
        this(store, limits, Grouping.DEFAULT);
    }

    public StoreRateLimiter(LimitStore store, Limits limits, Grouping grouping) {
        this(store, limits, grouping, List.of());
    }

    /** The store is not closed with the limiter: it belongs to whoever made it. */
    public StoreRateLimiter(LimitStore store, Limits limits, Grouping grouping, List<DecisionListener> listeners) {
        this.limits = limits;
        this.listeners = List.copyOf(listeners);
        this.deadline = grouping.deadline();
        this.breaker = new Breaker(BREAK, deadline);
        // No more than one works for each lane; but one that has just left its lane may still be on its way back.
        this.workers = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), workerThreads());
        this.lanes = new Lane[grouping.groupsInFlight()];
        int waitingPerLane = Math.max(1, grouping.maxWaiting() / lanes.length);
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = new Lane(store, grouping.maxGroupSize(), waitingPerLane, workers, breaker);
        }
    }

    private static ThreadFactory workerThreads() {
        AtomicInteger number = new AtomicInteger();
        return work -> {
            Thread thread = new Thread(work, "ratelimit-group-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public Decision decide(LimitRequest request) {
        return ask(Kind.DECIDE, request).decision();
    }

    @Override
    public Decision peek(LimitRequest request) {
        return ask(Kind.PEEK, request).decision();
    }

    @Override
    public boolean reset(LimitRequest request) {
        return ask(Kind.RESET, request).decision().outcome().isDecided();
    }

    @Override
    public Reservation reserve(LimitRequest request) {
        Asked asked = ask(Kind.DECIDE, request);
        return new StoreReservation(this, asked.decision(), asked.demands(), asked.verdicts());
    }

    /** A request that was put to the store; without verdicts if no decision could be had. */
    private record Asked(Decision decision, List<Demand> demands, List<Verdict> verdicts) {}

    private Asked ask(Kind kind, LimitRequest request) {
        List<Demand> demands = demands(request);
        long start = System.nanoTime();
        Asked asked;
        try {
            Answer answer = submit(new Operation(kind, demands));
            asked = new Asked(decision(request, demands, answer), demands, answer.verdicts());
        } catch (UndecidedException e) {
            asked = new Asked(undecided(request, e), demands, List.of());
        }
        if (kind == Kind.DECIDE) {
            tellListeners(request, asked.decision(), Duration.ofNanos(System.nanoTime() - start));
        }
        return asked;
    }

    private void tellListeners(LimitRequest request, Decision decision, Duration took) {
        for (DecisionListener listener : listeners) {
            try {
                listener.decided(request, decision, took);
            } catch (RuntimeException | Error e) {
                log.warn("A listener failed on a decision: {}", e.getMessage(), e);
            }
        }
    }

    Answer submit(Operation operation) throws UndecidedException {
        int hash = operation.demands().get(0).key().hashCode();
        Lane lane = lanes[Math.floorMod(hash ^ hash >>> 16, lanes.length)];
        breaker.check();
        long askedAt = System.nanoTime();
        try {
            Answer answer = lane.submit(operation, askedAt + deadline.toNanos());
            health.decided();
            return answer;
        } catch (UndecidedException e) {
            health.undecided(e);
            breaker.failed(e, askedAt);
            throw e;
        }
    }

    private List<Demand> demands(LimitRequest request) {
        List<Demand> demands = new ArrayList<>(request.items().size());
        for (LimitRequest.Item item : request.items()) {
            Limit limit = item.limit() != null ? item.limit() : limits.get(item.limitName());
            long cost = item.cost() != null ? item.cost() : limit.cost();
            requireGrantable(limit, cost);
            demands.add(new Demand(item.subject(), limit, cost));
        }
        return demands;
    }

    /** Whether the limit is still what its name stands for; one that was given for a single call always is. */
    boolean isCurrent(Limit limit) {
        Limit named = limits.find(limit.name());
        return named == null || named.equals(limit);
    }

    static void requireGrantable(Limit limit, long cost) {
        if (cost > limit.capacity()) {
            throw new IllegalArgumentException("limit '" + limit.name() + "': cost is " + cost + "; ask for at most "
                    + limit.capacity() + ", all that this limit can ever grant");
        }
    }

    private static Decision decision(LimitRequest request, List<Demand> demands, Answer answer) {
        List<LimitDecision> decisions = new ArrayList<>(demands.size());
        Outcome outcome = Outcome.ALLOWED;
        Duration retryAfter = Duration.ZERO;
        for (int i = 0; i < demands.size(); i++) {
            LimitDecision one = decision(demands.get(i), answer.verdicts().get(i), answer.now());
            decisions.add(one);
            outcome = one.outcome().compareTo(outcome) > 0 ? one.outcome() : outcome;
            retryAfter = one.retryAfter().compareTo(retryAfter) > 0 ? one.retryAfter() : retryAfter;
        }
        boolean allowed = outcome == Outcome.ALLOWED;
        if (!allowed && retryAfter.compareTo(request.retryAfterFloor()) < 0) {
            retryAfter = request.retryAfterFloor();
        }
        return new Decision(outcome, allowed, Micros.toInstant(answer.now()), decisions, retryAfter, null);
    }

    private static LimitDecision decision(Demand demand, Verdict verdict, long now) {
        return new LimitDecision(
                demand.subject(),
                demand.limit(),
                verdict.outcome(),
                verdict.remaining(),
                Micros.toInstant(verdict.resetAt()),
                verdict.allowed() ? Duration.ZERO : Micros.toDuration(verdict.availableAt() - now),
                Micros.toDuration(verdict.delay()),
                verdict.penaltyUntil() == 0 ? null : Micros.toInstant(verdict.penaltyUntil()));
    }

    private static Decision undecided(LimitRequest request, UndecidedException e) {
        boolean open = request.onFailure() == FailurePolicy.OPEN;
        return new Decision(
                e.outcome(),
                open,
                Instant.now(),
                List.of(),
                open ? Duration.ZERO : request.retryAfterFloor(),
                e.reason());
    }

    /** Ends the workers; requests that wait are told that no decision can be had. */
    @Override
    public void close() {
        workers.shutdown();
    }
}
