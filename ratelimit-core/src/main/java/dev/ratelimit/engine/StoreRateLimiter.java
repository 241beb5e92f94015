package dev.ratelimit.engine;

import dev.ratelimit.Charged;
import dev.ratelimit.Decision;
import dev.ratelimit.DecisionListener;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.Reservation;
import dev.ratelimit.Subject;
import dev.ratelimit.engine.StoreOrFailurePolicy.Decided;
import dev.ratelimit.engine.lease.Leases;
import dev.ratelimit.engine.local.LocalDecisions;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The rate limiter over a store.
 *
 * <ol>
 *   <li>The limits of the request are found ({@link LimitResolution}).
 *   <li>A denial that is remembered, or a lease that is held, answers at once ({@link LocalMemory}).
 *   <li>Otherwise the store is asked, together with all requests that wait at the same moment ({@link StoreCalls}).
 *   <li>If the store is unavailable, the failure policy of the request applies ({@link StoreOrFailurePolicy}); by default
 *       this instance decides ({@link LocalDecisions}).
 *   <li>Listeners are told, and trials are decided ({@link Trials}).
 * </ol>
 *
 * A store that decides in memory is asked directly: the second and the fourth step are left out.
 */
public final class StoreRateLimiter implements RateLimiter, AutoCloseable {

    /** Enough for a flood from many addresses, in a few megabytes. */
    public static final int DEFAULT_REMEMBERED_DENIALS = 10_000;

    private final LimitStore store;
    private final boolean immediate;
    private final LimitResolution resolution;
    private final StoreCalls calls;
    private final LocalDecisions local;
    private final StoreOrFailurePolicy asking;
    private final LocalMemory memory;
    private final MemoryOrStore deciding;
    private final Listeners<DecisionListener> listeners;
    private final Trials trials;
    private final Charges charges;

    private StoreRateLimiter(Builder settings) {
        this.store = settings.store;
        this.immediate = store.isImmediate();
        this.resolution = new LimitResolution(settings.limits);
        this.listeners = new Listeners<>(settings.listeners);
        this.local = new LocalDecisions(settings.instances, store.clock());
        this.calls = new StoreCalls(store, settings.grouping, local, new Listeners<>(settings.storeListeners));
        this.asking = new StoreOrFailurePolicy(store, calls, local, settings.onFailure);
        this.trials = new Trials(calls::submitLater, listeners);
        boolean repeatsDenials = settings.rememberedDenials > 0;
        this.memory = new LocalMemory(
                new DeniedSubjects(
                        repeatsDenials ? settings.rememberedDenials : DEFAULT_REMEMBERED_DENIALS,
                        settings.limits::mayBeGivenBack,
                        settings.nanoTime),
                new Leases(
                        calls::submitLater,
                        resolution::isCurrent,
                        store::isContended,
                        settings.grouping.deadline(),
                        settings.nanoTime));
        this.deciding = new MemoryOrStore(memory, calls, asking, repeatsDenials, settings.nanoTime);
        this.charges = new Charges(resolution, asking, memory, deciding, trials);
    }

    /** A limiter over the store, which is not closed with it. */
    public static Builder builder(LimitStore store, Limits limits) {
        return new Builder(store, limits);
    }

    /** The settings of a limiter. Not thread-safe. */
    public static final class Builder {

        private final LimitStore store;
        private final Limits limits;
        private Grouping grouping;
        private List<DecisionListener> listeners = List.of();
        private List<StoreListener> storeListeners = List.of();
        private int rememberedDenials = DEFAULT_REMEMBERED_DENIALS;
        private FailurePolicy onFailure = FailurePolicy.LOCAL;
        private int instances = 1;
        private LongSupplier nanoTime;

        private Builder(LimitStore store, Limits limits) {
            this.store = store;
            this.limits = limits;
            // A store that is a mock in a test of the application says zero.
            this.grouping = Grouping.DEFAULT.withGroupsInFlight(Math.max(1, store.groupsAtOnce()));
            InstantSource clock = store.clock();
            this.nanoTime = clock == null ? System::nanoTime : () -> Micros.of(clock.instant()) * 1_000;
        }

        /** How requests are combined, and how long one waits at most. */
        public Builder grouping(Grouping requests) {
            this.grouping = requests;
            return this;
        }

        public Builder listeners(List<DecisionListener> all) {
            this.listeners = all;
            return this;
        }

        public Builder storeListeners(List<StoreListener> all) {
            this.storeListeners = all;
            return this;
        }

        /** How many denials are remembered, to be given again without asking the store; zero for none. */
        public Builder rememberedDenials(int most) {
            this.rememberedDenials = most;
            return this;
        }

        /** The failure policy of requests that have none. */
        public Builder onFailure(FailurePolicy policy) {
            this.onFailure = policy;
            return this;
        }

        /** How many instances share the store: while it is unavailable, each grants its share of a limit. */
        public Builder instances(int number) {
            if (number < 1) {
                throw new IllegalArgumentException("instances is " + number + "; write a whole number of at least 1");
            }
            this.instances = number;
            return this;
        }

        /** Measures the time since an answer, by the clock of the store unless it is given. */
        Builder nanoTime(LongSupplier time) {
            this.nanoTime = time;
            return this;
        }

        public StoreRateLimiter build() {
            return new StoreRateLimiter(this);
        }
    }

    @Override
    public Decision decide(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        if (immediate) {
            return decideImmediately(inForce);
        }
        List<Limit> limits = resolution.limits(inForce);
        Decision decision = limits.isEmpty() ? Decisions.NOTHING_ASKED : decide(inForce, limits);
        trials.decide(inForce, limits);
        return decision;
    }

    private Decision decideImmediately(LimitRequest request) {
        long start = listeners.isEmpty() ? 0 : System.nanoTime();
        if (request.items().size() == 1) {
            Demand demand = resolution.demand(request);
            Decision decision = Decisions.of(request, demand, store.decide(demand), null);
            recorded(request, decision, start);
            trials.decideBeside(request, demand);
            return decision;
        }
        List<Limit> limits = resolution.limits(request);
        Decision decision = asking.ask(request, Kind.DECIDE, resolution.demands(request, limits), start)
                .decision();
        recorded(request, decision, start);
        trials.decide(request, limits);
        return decision;
    }

    private Decision decide(LimitRequest request, List<Limit> limits) {
        long start = System.nanoTime();
        Decision known = deciding.repeatedDenial(request, limits);
        Decision decision =
                known != null ? known : deciding.decide(request, resolution.demands(request, limits), start);
        recorded(request, decision, start);
        return decision;
    }

    /** A request without limits, or with none that is switched on, decides nothing. */
    private void recorded(LimitRequest request, Decision decision, long startNanos) {
        if (!listeners.isEmpty() && !request.items().isEmpty() && !request.isRecordedByCaller()) {
            RequestRecord record =
                    RequestRecord.of(request, decision, Duration.ofNanos(System.nanoTime() - startNanos));
            listeners.tell(listener -> listener.recorded(record));
        }
    }

    @Override
    public Decision peek(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        List<Demand> demands = resolution.demands(inForce);
        return asking.ask(inForce, Kind.PEEK, demands, System.nanoTime()).decision();
    }

    @Override
    public Reservation reserve(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        long start = System.nanoTime();
        List<Limit> limits = resolution.limits(inForce);
        List<Demand> demands = resolution.demands(inForce, limits);
        memory.denials.reserving(demands);
        Decided decided = asking.ask(inForce, Kind.DECIDE, demands, start);
        recorded(inForce, decided.decision(), start);
        return charges.reservation(inForce, limits, demands, decided);
    }

    @Override
    public Charged charge(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        long start = System.nanoTime();
        List<Limit> limits = resolution.limits(inForce);
        List<Demand> demands = resolution.demands(inForce, limits);
        memory.denials.charging(demands);
        Charged charged = immediate ? null : charges.withoutStore(inForce, limits, demands, start);
        if (charged == null) {
            charged = charges.reservation(inForce, limits, demands, deciding.ask(inForce, demands, start));
        }
        recorded(inForce, charged.decision(), start);
        return charged;
    }

    @Override
    public CompletionStage<Charged> chargeAsync(LimitRequest request) {
        if (immediate) {
            return CompletableFuture.completedStage(charge(request));
        }
        LimitRequest inForce = resolution.inForce(request);
        long start = System.nanoTime();
        List<Limit> limits = resolution.limits(inForce);
        List<Demand> demands = resolution.demands(inForce, limits);
        memory.denials.charging(demands);
        return charges.chargeAsync(inForce, limits, demands, start)
                .thenApply(charged -> {
                    recorded(inForce, charged.decision(), start);
                    return charged;
                })
                .minimalCompletionStage();
    }

    @Override
    public @Nullable Decision remembered(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        if (inForce.items().isEmpty()) {
            return null;
        }
        if (immediate) {
            Decision now = peek(inForce);
            return now.allowed() ? null : now;
        }
        List<Limit> limits = resolution.limits(inForce);
        Decision denial = deciding.denial(inForce, limits);
        if (denial != null || !calls.isAnyPartDown()) {
            return denial;
        }
        List<Demand> demands = resolution.demands(inForce, limits);
        if (!calls.isStoreDown(demands)) {
            return null;
        }
        Answer here = local.decide(new Pending(new Operation(Kind.PEEK, demands), null, true))
                .answer();
        return here.allowed() ? null : Decisions.of(inForce, demands, here);
    }

    @Override
    public CompletionStage<Decision> decideAsync(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        long start = System.nanoTime();
        List<Limit> limits = resolution.limits(inForce);
        if (immediate || limits.isEmpty()) {
            return CompletableFuture.completedStage(decide(inForce));
        }
        List<Demand> demands = resolution.demands(inForce, limits);
        Decision known = deciding.repeatedDenial(inForce, limits);
        CompletableFuture<Decision> decided = known != null
                ? CompletableFuture.completedFuture(known)
                : deciding.decideAsync(inForce, demands, start);
        return decided.thenApply(decision -> {
                    recorded(inForce, decision, start);
                    trials.decide(inForce, limits);
                    return decision;
                })
                .minimalCompletionStage();
    }

    @Override
    public CompletionStage<Decision> peekAsync(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        List<Demand> demands = resolution.demands(inForce);
        return asking.askAsync(inForce, Kind.PEEK, demands, System.nanoTime())
                .thenApply(Decided::decision)
                .minimalCompletionStage();
    }

    @Override
    public CompletionStage<Reservation> reserveAsync(LimitRequest request) {
        LimitRequest inForce = resolution.inForce(request);
        long start = System.nanoTime();
        List<Limit> limits = resolution.limits(inForce);
        List<Demand> demands = resolution.demands(inForce, limits);
        memory.denials.reserving(demands);
        return asking.askAsync(inForce, Kind.DECIDE, demands, start)
                .thenApply(decided -> {
                    recorded(inForce, decided.decision(), start);
                    return charges.reservation(inForce, limits, demands, decided);
                })
                .minimalCompletionStage();
    }

    @Override
    public boolean reset(LimitRequest request) {
        List<Demand> demands = resolution.demands(request);
        boolean done = asking.ask(request, Kind.RESET, demands, System.nanoTime())
                .decision()
                .outcome()
                .isDecided();
        demands.forEach(demand -> memory.forget(demand.key()));
        trials.reset(demands);
        return done;
    }

    /**
     * Forgets the cached denials and leases of the subject on that limit, so that the store is asked again. Call it on
     * every other instance after a subject was reset or unblocked. {@link #reset} does it on its own instance.
     */
    public void forgetLocally(Subject subject, String limitName) {
        memory.forget(StateKey.of(subject, limitName));
    }

    /** Forgets what this process remembers of the subject, on all limits: see {@link #forgetLocally(Subject, String)}. */
    public void forgetLocally(Subject subject) {
        memory.forget(subject);
    }

    /** Forgets the denials that this process remembers, since limits may be others; leases are of the limit as it was. */
    public void forgetDenials() {
        memory.denials.clear();
    }

    /** Forgets what this process remembers of all subjects, so that the store is asked again. */
    public void forgetLocally() {
        memory.forget();
    }

    /**
     * Forgets all that this process knows: denials, leases, failures of the store, and permits that it granted meanwhile
     * without charging the store. For tests that share a limiter, whose store is emptied as well.
     */
    public void forgetEverything() {
        memory.forget();
        local.forget();
        calls.forgetFailures();
    }

    /** The state of this limiter now, and its counts since the start. */
    public EngineStatus status() {
        return new EngineStatus(
                calls.storeStatus(),
                calls.queueStatus(),
                calls.callCounts(),
                memory.denials.status(),
                memory.leaseStatus());
    }

    /**
     * Asks the store a question that changes nothing, within the deadline, and returns the state after it. So an outage shows
     * even if no request comes.
     */
    public EngineStatus probe() {
        if (!immediate) {
            calls.probe();
        }
        return status();
    }

    /** Gives leases back and ends the workers; requests that still wait are left to their failure policy. */
    @Override
    public void close() {
        memory.leases.close();
        calls.close();
    }
}
