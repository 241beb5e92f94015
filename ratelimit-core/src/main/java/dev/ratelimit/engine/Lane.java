package dev.ratelimit.engine;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Combines callers. At any moment a lane has at most one group at the store.
 *
 * <ol>
 *   <li>A caller that finds the lane idle is a group of its own: it calls the store at once, on its own thread, and
 *       pays for no hand-over. Only where the store may keep the caller for longer than its deadline, or would hold on
 *       to the carrier of a virtual thread, a worker makes the call for it.
 *   <li>Whoever comes meanwhile waits in the queue.
 *   <li>When the first is done and somebody waits, a worker takes over: all that wait (up to the size of a group) are
 *       the next group, and so on until nobody waits. The first caller is free to go.
 * </ol>
 *
 * So a request waits for the group in flight and its own: for no more than two, unless more wait than a group holds.
 */
final class Lane {

    private final LimitStore store;
    private final int maxGroupSize;
    private final int maxWaiting;
    private final Executor workers;
    private final Breaker breaker;

    private final ReentrantLock mutex = new ReentrantLock();
    private final ArrayDeque<Pending> queue = new ArrayDeque<>();
    private boolean busy;

    Lane(LimitStore store, int maxGroupSize, int maxWaiting, Executor workers, Breaker breaker) {
        this.store = store;
        this.maxGroupSize = maxGroupSize;
        this.maxWaiting = maxWaiting;
        this.workers = workers;
        this.breaker = breaker;
    }

    Answer submit(Operation operation, long deadlineNanos) throws UndecidedException {
        Pending pending = new Pending(operation);
        boolean lead = store.answersInTime() && !VirtualThreads.isCurrent();
        boolean idle = enter(pending, lead);
        if (idle && lead) {
            try {
                decide(List.of(pending));
            } finally {
                passOn();
            }
        } else {
            if (idle) {
                passOn();
            }
            if (!pending.await(deadlineNanos)) {
                remove(pending);
                throw UndecidedException.late();
            }
        }
        return pending.answer();
    }

    /** Leaves an operation to the workers; nobody waits for it. */
    void submitLater(Pending pending) throws UndecidedException {
        if (enter(pending, false)) {
            passOn();
        }
    }

    /**
     * Whether the lane was idle: then it is the caller's until it passes it on. A caller that does not lead waits in
     * the queue in any case.
     */
    private boolean enter(Pending pending, boolean lead) throws UndecidedException {
        mutex.lock();
        try {
            boolean idle = !busy;
            if (!idle && queue.size() >= maxWaiting) {
                throw UndecidedException.overloaded(queue.size());
            }
            if (!idle || !lead) {
                queue.add(pending);
            }
            busy = true;
            return idle;
        } finally {
            mutex.unlock();
        }
    }

    private void passOn() {
        if (isIdle()) {
            return;
        }
        try {
            workers.execute(this::work);
        } catch (RejectedExecutionException e) {
            // Closed meanwhile: who still waits is told.
            for (List<Pending> group = nextGroup(); !group.isEmpty(); group = nextGroup()) {
                Pending.complete(group, place -> UndecidedException.closed());
            }
        } catch (OutOfMemoryError e) {
            // No thread can be had: rather be late than leave those who wait, and all who come later, without anyone.
            work();
        }
    }

    /** Marks the lane idle if nobody waits. */
    private boolean isIdle() {
        mutex.lock();
        try {
            busy = !queue.isEmpty();
            return !busy;
        } finally {
            mutex.unlock();
        }
    }

    private void work() {
        boolean lost = true;
        try {
            for (List<Pending> group = nextGroup(); !group.isEmpty(); group = nextGroup()) {
                decide(group);
            }
            lost = false;
        } finally {
            if (lost) {
                giveUp();
            }
        }
    }

    /** A worker that ends by an error, such as a lack of memory, leaves the lane and those who wait to whoever comes next. */
    private void giveUp() {
        mutex.lock();
        try {
            busy = false;
        } finally {
            mutex.unlock();
        }
    }

    /** Those who wait, up to the size of a group; if nobody does, the lane is idle from here on. */
    private List<Pending> nextGroup() {
        mutex.lock();
        try {
            List<Pending> group = new ArrayList<>(Math.min(queue.size(), maxGroupSize));
            while (group.size() < maxGroupSize && !queue.isEmpty()) {
                group.add(queue.remove());
            }
            busy = !group.isEmpty();
            return group;
        } finally {
            mutex.unlock();
        }
    }

    private void remove(Pending pending) {
        mutex.lock();
        try {
            queue.remove(pending);
        } finally {
            mutex.unlock();
        }
    }

    private void decide(List<Pending> group) {
        try {
            List<Operation> operations = new ArrayList<>(group.size());
            for (Pending pending : group) {
                operations.add(pending.operation);
            }
            List<Answer> answers = store.decide(operations);
            // Here, and not where the answers arrive: a store that answers is not down because its callers have left.
            breaker.succeeded();
            Pending.complete(group, answers::get);
        } catch (RuntimeException | Error e) {
            Pending.complete(group, place -> e);
        }
    }
}
