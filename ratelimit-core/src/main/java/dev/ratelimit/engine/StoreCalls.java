package dev.ratelimit.engine;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.engine.EngineStatus.Circuit;
import dev.ratelimit.engine.local.LocalDecisions;
import dev.ratelimit.engine.queue.Breaker;
import dev.ratelimit.engine.queue.GroupQueue;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.Operation.Kind;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.Listeners;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the store within a deadline: through the breaker, and in groups. */
final class StoreCalls {

    private static final Demand PROBE = new Demand(
            Subject.of("health", "probe"),
            Limit.named("health-probe")
                    .algorithm(Algorithms.atMost(1, Window.of(Duration.ofSeconds(1))))
                    .build(),
            1);

    private static final Logger log = LoggerFactory.getLogger(StoreCalls.class);

    private final GroupQueue queue;
    private final Breaker breaker;
    private final StoreHealth health;
    private final Grouping grouping;
    private final ThreadPoolExecutor workers;

    /** Continuations of asynchronous callers run here: they may block, and would hold up a group. */
    private final Executor continuations = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            30,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            DaemonThreads.numbered("ratelimit-continuation-"));

    StoreCalls(LimitStore store, Grouping grouping, LocalDecisions local, Listeners<StoreListener> listeners) {
        this.grouping = grouping;
        this.health = new StoreHealth(System::nanoTime, listeners);
        this.breaker = new Breaker(Breaker.INTERVAL, grouping.deadline());
        // No more than one works for each group; but one that has just left may still be on its way back.
        this.workers = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                30,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                DaemonThreads.numbered("ratelimit-group-"));
        this.queue = new GroupQueue(store, grouping.forQueue(), workers, breaker, local, GroupQueue.STUCK_AFTER);
    }

    /** Whether the store has failed and is left alone for now. */
    boolean isStoreDown() {
        return breaker.isOpen();
    }

    /** Asks for a count that nobody has, so that the state of the store is known. */
    void probe() {
        try {
            submit(new Pending(new Operation(Kind.PEEK, List.of(PROBE))), System.nanoTime());
        } catch (UndecidedException e) {
            log.debug("The store does not answer: {}", LogText.of(e.getMessage()));
        }
    }

    EngineStatus.Store storeStatus() {
        return health.status(breaker.isClosed() ? Circuit.CLOSED : breaker.isOpen() ? Circuit.OPEN : Circuit.HALF_OPEN);
    }

    EngineStatus.Queue queueStatus() {
        GroupQueue.Load load = queue.load();
        return new EngineStatus.Queue(load.waiting(), grouping.maxWaiting(), load.groups(), grouping.groupsInFlight());
    }

    EngineStatus.Calls callCounts() {
        GroupQueue.Calls calls = queue.calls();
        return new EngineStatus.Calls(calls.count(), calls.requests(), Duration.ofNanos(calls.nanos()));
    }

    /** Asks the store with the next request, whatever happened before. */
    void forgetFailures() {
        breaker.succeeded();
        queue.forgetLocks();
    }

    /** When a request has waited for too long that came at that moment. */
    long deadline(long start) {
        return start + grouping.deadline().toNanos();
    }

    /**
     * Waits for the answer.
     *
     * @param start when the request came, in the time of {@link System#nanoTime()}
     */
    Answer submit(Pending pending, long start) throws UndecidedException {
        try {
            breaker.check();
            Answer answer = queue.submit(pending, deadline(start));
            health.decided();
            return answer;
        } catch (UndecidedException e) {
            health.undecided(e);
            throw e;
        }
    }

    /** Leaves an operation to the workers, without a caller that waits. */
    void submitLater(Pending pending) throws UndecidedException {
        breaker.check();
        queue.submitLater(pending);
    }

    /** The answer to an asynchronous caller, or the reason why there is none. */
    record Told(
            Pending pending,
            @Nullable Answer given,
            @Nullable UndecidedException undecided) {

        Answer answer() {
            return Objects.requireNonNull(given);
        }
    }

    /**
     * Asks without waiting. Completes by the deadline, off the workers, and never exceptionally.
     *
     * @param orHere whether this process decides it if the store does not
     */
    CompletableFuture<Told> submitAsync(Operation operation, boolean orHere, long start) {
        CompletableFuture<Object> result = new CompletableFuture<>();
        Pending pending = new Pending(operation, result::complete, orHere);
        try {
            breaker.check();
            queue.submitLater(pending);
        } catch (UndecidedException e) {
            result.complete(e);
        }
        return result.orTimeout(deadline(start) - System.nanoTime(), TimeUnit.NANOSECONDS)
                .handleAsync((given, timeout) -> told(pending, timeout == null ? given : timeout), continuations);
    }

    private Told told(Pending pending, Object result) {
        if (result instanceof Answer answer) {
            health.decided();
            return new Told(pending, answer, null);
        }
        UndecidedException undecided;
        if (result instanceof UndecidedException e) {
            undecided = e;
        } else if (result instanceof TimeoutException) {
            queue.leave(pending);
            undecided = UndecidedException.late();
        } else {
            undecided = UndecidedException.failed((Throwable) result);
        }
        health.undecided(undecided);
        return new Told(pending, null, undecided);
    }

    /** The same stage, whose continuations run off the workers; {@code null} if it is not complete by the deadline. */
    <T> CompletableFuture<@Nullable T> offTheWorkers(CompletableFuture<@Nullable T> stage, long start) {
        if (stage.isDone()) {
            return stage;
        }
        return stage.thenApply(value -> value)
                .completeOnTimeout(null, deadline(start) - System.nanoTime(), TimeUnit.NANOSECONDS)
                .thenApplyAsync(value -> value, continuations);
    }

    void close() {
        workers.shutdown();
    }
}
