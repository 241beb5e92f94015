package dev.ratelimit.engine;

import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Micros;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rate limiter over a store. Requests that wait at the same moment are decided in one call of the store; see
 * {@link GroupQueue}.
 */
public final class StoreRateLimiter implements RateLimiter, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(StoreRateLimiter.class);

    /** Enough for a flood from many addresses, in a few megabytes. */
    public static final int DEFAULT_REMEMBERED_DENIALS = 10_000;

    /** How long a store that has failed is left alone before it is asked again. */
    private static final Duration BREAK = Duration.ofSeconds(1);

    private final Limits limits;
    private final GroupQueue queue;
    private final ThreadPoolExecutor workers;
    private final Duration deadline;
    private final List<DecisionListener> listeners;
    private final Breaker breaker;
    private final StoreHealth health;
    private final Shadows shadows;
    private final DeniedSubjects denied;
    private final boolean leasing;
    private final Leases leases;
    private final LongSupplier nanoTime;

    public StoreRateLimiter(LimitStore store, Limits limits) {
        this(store, limits, Grouping.DEFAULT.withGroupsInFlight(store.groupsAtOnce()));
    }

    public StoreRateLimiter(LimitStore store, Limits limits, Grouping grouping) {
        this(store, limits, grouping, List.of());
    }

    /** The store is not closed with the limiter: it belongs to whoever made it. */
    public StoreRateLimiter(LimitStore store, Limits limits, Grouping grouping, List<DecisionListener> listeners) {
        this(store, limits, grouping, listeners, DEFAULT_REMEMBERED_DENIALS);
    }

    /**
     * @param rememberedDenials how many denials are remembered, to be given again without asking the store; zero for none
     */
    public StoreRateLimiter(
            LimitStore store,
            Limits limits,
            Grouping grouping,
            List<DecisionListener> listeners,
            int rememberedDenials) {
        this(store, limits, grouping, listeners, rememberedDenials, true, nanos(store.clock()));
    }

    /**
     * @param leasing whether permits may be taken in advance
     * @param nanoTime what measures the time since an answer
     */
    StoreRateLimiter(
            LimitStore store,
            Limits limits,
            Grouping grouping,
            List<DecisionListener> listeners,
            int rememberedDenials,
            boolean leasing,
            LongSupplier nanoTime) {
        this.leasing = leasing;
        this.limits = limits;
        this.listeners = List.copyOf(listeners);
        this.denied = new DeniedSubjects(rememberedDenials, nanoTime);
        this.leases = new Leases(this::submitLater, this::isCurrent, grouping.deadline(), nanoTime);
        this.nanoTime = nanoTime;
        this.health = new StoreHealth(nanoTime);
        this.deadline = grouping.deadline();
        this.breaker = new Breaker(BREAK, deadline);
        this.shadows = new Shadows(this::submitLater, this.listeners);
        // No more than one works for each group; but one that has just left may still be on its way back.
        this.workers = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), workerThreads());
        this.queue = new GroupQueue(store, grouping, workers, breaker, GroupQueue.PATIENCE);
    }

    private static LongSupplier nanos(@Nullable InstantSource clock) {
        return clock == null ? System::nanoTime : () -> Micros.of(clock.instant()) * 1_000;
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
        List<Limit> current = limits(request);
        Decision decision = current.isEmpty() ? Decisions.NOTHING_ASKED : decide(request, current);
        shadows.decide(request, current);
        return decision;
    }

    private Decision decide(LimitRequest request, List<Limit> current) {
        long start = nanoTime.getAsLong();
        Decision known = denied.denial(request, current, start);
        if (known != null) {
            tellListeners(request, known, start);
            return known;
        }
        return decideAnew(request, demands(request, current), start);
    }

    private Decision decideAnew(LimitRequest request, List<Demand> demands, long start) {
        boolean leased = leasing
                && demands.size() == 1
                && !demands.get(0).limit().lease().isNone();
        if (leased) {
            Leases.Served served = leases.serve(demands.get(0), start + deadline.toNanos());
            if (served != null) {
                Decision decision = Decisions.of(demands.get(0), served);
                tellListeners(request, decision, start);
                return decision;
            }
        }
        long mark = denied.mark();
        Asked asked = ask(Kind.DECIDE, request, demands, leased ? nanoTime.getAsLong() - start : 0);
        Answer answer = asked.answer();
        if (answer != null) {
            if (leased) {
                leases.learn(demands.get(0), answer.verdicts().get(0));
            }
            if (!answer.allowed()) {
                denied.remember(demands, answer, mark, start);
            }
        }
        return asked.decision();
    }

    @Override
    public Decision peek(LimitRequest request) {
        return ask(Kind.PEEK, request, demands(request, limits(request))).decision();
    }

    @Override
    public boolean reset(LimitRequest request) {
        List<Demand> demands = demands(request, limits(request));
        boolean done = ask(Kind.RESET, request, demands).decision().outcome().isDecided();
        demands.forEach(demand -> forgetLocally(demand.key()));
        shadows.reset(demands);
        return done;
    }

    /**
     * Forgets what this process remembers of the subject on that limit, denials and leases, so that the store is asked
     * again. To be called on every instance when somebody has reset or unblocked a subject, whoever did it;
     * {@link #reset} does it by itself on the instance it is called on.
     */
    public void forgetLocally(Subject subject, String limitName) {
        forgetLocally(StateKey.of(subject, limitName));
    }

    /** Forgets what this process remembers of the subject, on all limits: see {@link #forgetLocally(Subject, String)}. */
    public void forgetLocally(Subject subject) {
        denied.clear(subject);
        leases.drop(subject);
    }

    /** Forgets the denials that this process remembers, since limits may be others; leases are of the limit as it was. */
    public void forgetDenials() {
        denied.clear();
    }

    private void forgetLocally(StateKey key) {
        denied.clear(key);
        leases.drop(key);
    }

    /** Forgets what this process remembers of all subjects, so that the store is asked again. */
    public void forgetLocally() {
        denied.clear();
        leases.drop();
    }

    @Override
    public Reservation reserve(LimitRequest request) {
        List<Limit> current = limits(request);
        List<Demand> demands = demands(request, current);
        denied.reserving(demands);
        Asked asked = ask(Kind.DECIDE, request, demands);
        Answer answer = asked.answer();
        return new StoreReservation(
                this,
                asked.decision(),
                demands,
                answer == null ? List.of() : answer.verdicts(),
                shadows.decide(request, current));
    }

    /** A request that was put to the store; without an answer if no decision could be had. */
    private record Asked(Decision decision, @Nullable Answer answer) {}

    private Asked ask(Kind kind, LimitRequest request, List<Demand> demands) {
        return ask(kind, request, demands, 0);
    }

    /**
     * @param waited how long the request has waited already, in nanoseconds
     */
    private Asked ask(Kind kind, LimitRequest request, List<Demand> demands, long waited) {
        if (demands.isEmpty()) {
            return new Asked(Decisions.NOTHING_ASKED, null);
        }
        long start = nanoTime.getAsLong();
        Asked asked;
        try {
            Answer answer = submit(new Operation(kind, demands), waited);
            asked = new Asked(Decisions.of(request, demands, answer), answer);
        } catch (UndecidedException e) {
            asked = new Asked(Decisions.undecided(request, e), null);
        }
        if (kind == Kind.DECIDE) {
            tellListeners(request, asked.decision(), start);
        }
        return asked;
    }

    private void tellListeners(LimitRequest request, Decision decision, long startNanos) {
        if (listeners.isEmpty()) {
            return;
        }
        Duration took = Duration.ofNanos(nanoTime.getAsLong() - startNanos);
        for (DecisionListener listener : listeners) {
            try {
                listener.decided(request, decision, took);
            } catch (RuntimeException | Error e) {
                log.warn("A listener failed on a decision: {}", e.getMessage(), e);
            }
        }
    }

    private void submitLater(Pending pending) throws UndecidedException {
        breaker.check();
        queue.submitLater(pending);
    }

    Answer submit(Operation operation) throws UndecidedException {
        return submit(operation, 0);
    }

    private Answer submit(Operation operation, long waited) throws UndecidedException {
        breaker.check();
        long askedAt = System.nanoTime();
        try {
            Answer answer = queue.submit(operation, askedAt + deadline.toNanos() - waited);
            health.decided();
            return answer;
        } catch (UndecidedException e) {
            health.undecided(e);
            breaker.failed(e, askedAt);
            throw e;
        }
    }

    /** The limits of the request's items, in their order. */
    private List<Limit> limits(LimitRequest request) {
        List<LimitRequest.Item> items = request.items();
        if (items.size() == 1) {
            return List.of(limit(items.get(0), request.tier()));
        }
        List<Limit> found = new ArrayList<>(items.size());
        for (LimitRequest.Item item : items) {
            found.add(limit(item, request.tier()));
        }
        return found;
    }

    private Limit limit(LimitRequest.Item item, @Nullable String tier) {
        Limit given = item.limit();
        return given != null ? given : limits.get(item.limitName(), tier);
    }

    private static List<Demand> demands(LimitRequest request, List<Limit> limits) {
        List<Demand> demands = new ArrayList<>(limits.size());
        for (int i = 0; i < limits.size(); i++) {
            LimitRequest.Item item = request.items().get(i);
            Limit limit = limits.get(i);
            long cost = item.cost() != null ? item.cost() : limit.cost();
            requireGrantable(limit, cost);
            demands.add(new Demand(item.subject(), limit, cost));
        }
        return demands;
    }

    boolean isCurrent(Limit limit) {
        return limits.isCurrent(limit);
    }

    static void requireGrantable(Limit limit, long cost) {
        if (cost > limit.capacity()) {
            throw new IllegalArgumentException("limit '" + limit.name() + "': cost is " + cost + "; ask for at most "
                    + limit.capacity() + ", all that this limit can ever grant");
        }
    }

    /** Gives leases back and ends the workers; requests that wait are told that no decision can be had. */
    @Override
    public void close() {
        leases.close();
        workers.shutdown();
    }
}
