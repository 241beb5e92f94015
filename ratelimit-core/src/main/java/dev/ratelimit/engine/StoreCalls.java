package dev.ratelimit.engine;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.engine.EngineStatus.Circuit;
import dev.ratelimit.engine.local.LocalDecisions;
import dev.ratelimit.engine.queue.GroupQueue;
import dev.ratelimit.engine.queue.GroupQueues;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the store within a deadline: through the breaker of the part that is asked, and in groups. */
final class StoreCalls {

    private static final Demand PROBE = new Demand(
            Subject.of("health", "probe"),
            Limit.named("health-probe")
                    .algorithm(Algorithms.atMost(1, Window.of(Duration.ofSeconds(1))))
                    .build(),
            1);

    private static final Logger log = LoggerFactory.getLogger(StoreCalls.class);

    /** Longer than the health of a part must be steady. */
    private static final Duration WATCH_INTERVAL = Duration.ofMillis(1_100);

    private final StoreParts parts;
    private final StoreHealth health;
    private final Grouping grouping;
    private final ThreadPoolExecutor workers;
    private final AtomicBoolean watching = new AtomicBoolean();

    /** Continuations of asynchronous callers run here: they may block, and would hold up a group. */
    private final Executor continuations = DaemonThreads.pool("ratelimit-continuation-", Integer.MAX_VALUE);

    StoreCalls(LimitStore store, Grouping grouping, LocalDecisions local, Listeners<StoreListener> listeners) {
        this.grouping = grouping;
        this.health = new StoreHealth(System::nanoTime, listeners, this::watch);
        // No more than one works for each group; but one that has just left may still be on its way back.
        this.workers = DaemonThreads.pool("ratelimit-group-", Integer.MAX_VALUE);
        this.parts = new StoreParts(
                store, new GroupQueues(store, grouping.forQueue(), workers, local), health, grouping.deadline());
    }

    /** Whether some part of the store has failed, and is left alone for now. */
    boolean isAnyPartDown() {
        for (StorePart part : parts.all()) {
            if (part.breaker.isOpen()) {
                return true;
            }
        }
        return false;
    }

    /** Whether a part of the store that one of the demands needs has failed, and is left alone for now. */
    boolean isStoreDown(List<Demand> demands) {
        for (Demand demand : demands) {
            if (parts.part(demand).breaker.isOpen()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Asks for a count that nobody has, and every other part for one that somebody has asked for, so that the state of the
     * store is known. Changes nothing.
     */
    void probe() {
        long start = System.nanoTime();
        StorePart first = parts.part(PROBE);
        List<CompletableFuture<Told>> others = new ArrayList<>();
        for (StorePart part : parts.all()) {
            if (part != first && !part.isAbandoned()) {
                others.add(submitAsync(new Operation(Kind.PEEK, List.of(part.example())), false, start));
            }
        }
        try {
            submit(new Pending(new Operation(Kind.PEEK, List.of(PROBE))), start);
        } catch (UndecidedException e) {
            log.debug("The store does not answer: {}", LogText.of(e.getMessage()));
        }
        others.forEach(CompletableFuture::join);
    }

    /** Begins to ask the parts that do not decide: an instance without requests would not find out that they are back. */
    private void watch() {
        if (watching.compareAndSet(false, true)) {
            askLater();
        }
    }

    private void askLater() {
        CompletableFuture.delayedExecutor(WATCH_INTERVAL.toMillis(), TimeUnit.MILLISECONDS, workers)
                .execute(this::askLostParts);
    }

    private void askLostParts() {
        if (workers.isShutdown()) {
            return;
        }
        try {
            parts.forgetAbandoned();
            List<CompletableFuture<Told>> answers = new ArrayList<>();
            for (StorePart part : parts.all()) {
                if (!part.health.isAvailable()) {
                    Operation peek = new Operation(Kind.PEEK, List.of(part.example()));
                    answers.add(submitAsync(peek, false, System.nanoTime()));
                }
            }
            answers.forEach(CompletableFuture::join);
        } catch (RuntimeException e) {
            log.debug("Could not ask the store whether it is back", e);
        }
        if (!health.isAvailable()) {
            askLater();
            return;
        }
        watching.set(false);
        // A part that was lost meanwhile has found the watch still on.
        if (!health.isAvailable()) {
            watch();
        }
    }

    EngineStatus.Store storeStatus() {
        parts.forgetAbandoned();
        int notClosed = 0;
        boolean open = false;
        for (StorePart part : parts.all()) {
            notClosed += part.breaker.isClosed() ? 0 : 1;
            open |= part.breaker.isOpen();
        }
        return health.status(open ? Circuit.OPEN : notClosed > 0 ? Circuit.HALF_OPEN : Circuit.CLOSED, notClosed);
    }

    EngineStatus.Queue queueStatus() {
        List<GroupQueue> queues = parts.allQueues();
        int waiting = 0;
        int groups = 0;
        for (GroupQueue queue : queues) {
            GroupQueue.Load load = queue.load();
            waiting += load.waiting();
            groups += load.groups();
        }
        int number = Math.max(1, queues.size());
        int capacity = (int) Math.min(Integer.MAX_VALUE, (long) number * grouping.maxWaiting());
        return new EngineStatus.Queue(waiting, capacity, groups, number * grouping.groupsInFlight());
    }

    EngineStatus.Calls callCounts() {
        long count = 0;
        long requests = 0;
        long nanos = 0;
        for (GroupQueue queue : parts.allQueues()) {
            GroupQueue.Calls calls = queue.calls();
            count += calls.count();
            requests += calls.requests();
            nanos += calls.nanos();
        }
        return new EngineStatus.Calls(count, requests, Duration.ofNanos(nanos));
    }

    /** Asks the store with the next request, whatever happened before. */
    void forgetFailures() {
        parts.forgetFailures();
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
        Lane lane = parts.lane(pending);
        try {
            lane.check(pending);
            Answer answer = lane.queue().submit(pending, deadline(start));
            lane.decided(pending);
            return answer;
        } catch (UndecidedException e) {
            lane.undecided(pending, e);
            throw e;
        }
    }

    /** Leaves an operation to the workers, without a caller that waits. */
    void submitLater(Pending pending) throws UndecidedException {
        Lane lane = parts.lane(pending);
        lane.check(pending);
        lane.queue().submitLater(pending);
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
        Lane lane = parts.lane(pending);
        try {
            lane.check(pending);
            lane.queue().submitLater(pending);
        } catch (UndecidedException e) {
            result.complete(e);
        }
        return result.orTimeout(deadline(start) - System.nanoTime(), TimeUnit.NANOSECONDS)
                .handleAsync((given, timeout) -> told(lane, pending, timeout == null ? given : timeout), continuations);
    }

    private static Told told(Lane lane, Pending pending, Object result) {
        if (result instanceof Answer answer) {
            lane.decided(pending);
            return new Told(pending, answer, null);
        }
        UndecidedException undecided;
        if (result instanceof UndecidedException e) {
            undecided = e;
        } else if (result instanceof TimeoutException) {
            undecided = UndecidedException.late(!lane.queue().leave(pending));
        } else {
            undecided = UndecidedException.failed((Throwable) result);
        }
        lane.undecided(pending, undecided);
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
