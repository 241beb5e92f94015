package dev.ratelimit.engine.queue;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Combines callers into groups.
 *
 * <ol>
 *   <li>A caller that finds no group at the store is a group of its own. It calls the store at once, on its own thread,
 *       without a hand-over. A worker makes the call instead if the store may exceed the deadline, or if a virtual
 *       thread would pin its carrier.
 *   <li>Callers that arrive meanwhile wait in the queue.
 *   <li>When the first call is done and callers wait, a worker takes over. All waiting callers, up to the size of a
 *       group, are the next group, until the queue is empty. The first caller returns at once.
 *   <li>A second group goes while one is at the store if enough callers wait to be worth a call. It also goes if a
 *       caller has waited so long that the first group may be stuck. Requests on a key that is at the store stay in the
 *       queue: the second group would only wait for that row.
 * </ol>
 *
 * So a request waits for at most two groups: the one at the store when it arrived, and its own. It waits longer only if
 * more callers wait than a group holds, or behind a request over several limits.
 */
public final class GroupQueue {

    /** The fixed cost of a call equals that of about eight requests. With this many requests it is a small part. */
    public static final int WORTH_ANOTHER = 24;

    private final LimitStore store;
    private final int mostGroups;
    private final int maxGroupSize;
    private final int maxWaiting;
    private final Executor workers;
    private final GroupDecider decider;
    private final LockedKeys locked;
    private final long patienceNanos;

    private final ReentrantLock mutex = new ReentrantLock();
    private final ArrayDeque<Pending> waiting = new ArrayDeque<>();

    /** How many groups are at the store, or about to go. */
    private int groups;

    /** The keys of the groups at the store. */
    private final Set<StateKey> keysAtStore = new HashSet<>();

    /** How many waiting callers do not wait for a key. */
    private int ready;

    GroupQueue(GroupQueues shared, GroupWatch watch) {
        this.store = shared.store;
        this.mostGroups = shared.settings.mostGroups();
        this.maxGroupSize = shared.settings.maxGroupSize();
        this.maxWaiting = shared.settings.maxWaiting();
        this.workers = shared.workers;
        this.locked = shared.locked;
        this.decider = new GroupDecider(shared, watch, this::submitLater);
        this.patienceNanos = shared.patience.toNanos();
    }

    /**
     * The load of a queue at one moment.
     *
     * @param waiting how many requests wait for their group
     * @param groups how many groups are at the store
     */
    public record Load(int waiting, int groups) {}

    public Load load() {
        mutex.lock();
        try {
            return new Load(waiting.size(), groups);
        } finally {
            mutex.unlock();
        }
    }

    /**
     * The calls of the store since the start.
     *
     * @param requests how many requests were in their groups
     * @param nanos how long they took together
     */
    public record Calls(long count, long requests, long nanos) {}

    public Calls calls() {
        return decider.calls();
    }

    Answer submit(Operation operation, long deadlineNanos) throws UndecidedException {
        return submit(new Pending(operation), deadlineNanos);
    }

    /** Waits for the answer until the deadline. A caller that leads a group waits until the store has answered. */
    public Answer submit(Pending pending, long deadlineNanos) throws UndecidedException {
        long now = System.nanoTime();
        if (deadlineNanos - now <= 0) {
            throw UndecidedException.late(false);
        }
        Turn turn = enter(pending, store.answersInTime() && !VirtualThreads.isCurrent());
        if (turn == Turn.LEAD) {
            if (decide(List.of(pending), decider::decide)) {
                startWorker();
            }
            return pending.answer();
        }
        if (turn == Turn.START_GROUP) {
            startWorker();
        }
        boolean patient = mostGroups == 1 || deadlineNanos - now <= patienceNanos;
        if (!patient && !pending.isDecidedBy(now + patienceNanos) && isAnotherDue()) {
            startWorker();
        }
        if (!pending.await(deadlineNanos)) {
            throw UndecidedException.late(!leave(pending));
        }
        return pending.answer();
    }

    /** Leaves an operation to the workers, without a caller that waits. */
    public void submitLater(Pending pending) throws UndecidedException {
        if (enter(pending, false) == Turn.START_GROUP) {
            startWorker();
        }
    }

    /** The part of an arriving caller. */
    private enum Turn {
        /** Ask the store, as a group of its own. */
        LEAD,
        /** Have a worker take a group, and wait. */
        START_GROUP,
        WAIT
    }

    private Turn enter(Pending pending, boolean mayLead) throws UndecidedException {
        locked.check(pending.keys);
        mutex.lock();
        try {
            if (groups > 0 && waiting.size() >= maxWaiting) {
                throw UndecidedException.overloaded(waiting.size());
            }
            if (groups == 0 && mayLead) {
                keysAtStore.addAll(pending.keys);
                groups = 1;
                return Turn.LEAD;
            }
            waiting.add(pending);
            if (isReady(pending)) {
                ready++;
            }
            if (groups == 0 || (groups < mostGroups && ready >= WORTH_ANOTHER)) {
                groups++;
                ready = 0;
                return Turn.START_GROUP;
            }
            return Turn.WAIT;
        } finally {
            mutex.unlock();
        }
    }

    /** Whether none of its keys is at the store. */
    private boolean isReady(Pending pending) {
        for (int i = 0; i < pending.keys.size(); i++) {
            if (keysAtStore.contains(pending.keys.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Whether another group is to go, however few wait. */
    private boolean isAnotherDue() {
        mutex.lock();
        try {
            boolean due = groups < mostGroups && ready > 0;
            if (due) {
                groups++;
                ready = 0;
            }
            return due;
        } finally {
            mutex.unlock();
        }
    }

    /** Has a worker take the groups that follow. */
    private void startWorker() {
        try {
            workers.execute(() -> work(decider::decide));
        } catch (RejectedExecutionException e) {
            // Closed meanwhile: fail the callers that still wait.
            work(group -> Pending.complete(group, place -> UndecidedException.closed()));
        } catch (OutOfMemoryError e) {
            // No thread can be created. To be late is better than to leave all waiting and later callers without a
            // worker.
            work(decider::decide);
        } catch (RuntimeException | Error e) {
            giveUp(List.of());
            throw e;
        }
    }

    private void work(Consumer<List<Pending>> deciding) {
        boolean more = true;
        while (more) {
            List<Pending> group = nextGroup();
            more = !group.isEmpty() && decide(group, deciding);
        }
    }

    /**
     * Takes the callers whose keys are not at the store, up to the size of a group. If there are none, this worker
     * stops.
     */
    private List<Pending> nextGroup() {
        mutex.lock();
        List<Pending> group = List.of();
        try {
            group = take();
            return group;
        } finally {
            if (group.isEmpty()) {
                groups--;
            }
            mutex.unlock();
        }
    }

    private List<Pending> take() {
        List<Pending> group = new ArrayList<>(Math.min(waiting.size(), maxGroupSize));
        ArrayDeque<Pending> passedOver = new ArrayDeque<>();
        // No request overtakes a passed-over one on a shared key: that one could wait for ever for all its keys at
        // once.
        Set<StateKey> awaited = new HashSet<>();
        while (group.size() < maxGroupSize && !waiting.isEmpty()) {
            Pending next = waiting.remove();
            if (next.hasLeft()) {
                continue;
            }
            if (isReady(next) && Collections.disjoint(next.keys, awaited)) {
                group.add(next);
            } else {
                passedOver.add(next);
                awaited.addAll(next.keys);
            }
        }
        ready = waiting.size();
        while (!passedOver.isEmpty()) {
            waiting.addFirst(passedOver.removeLast());
        }
        for (Pending taken : group) {
            keysAtStore.addAll(taken.keys);
        }
        return group;
    }

    /**
     * Decides a group. After an error, such as a lack of memory, the next arriving caller takes over the queue.
     *
     * @return whether another is to follow
     */
    private boolean decide(List<Pending> group, Consumer<List<Pending>> deciding) {
        boolean told = false;
        try {
            deciding.accept(group);
            told = true;
        } finally {
            if (!told) {
                giveUp(group);
            }
        }
        return isFollowed(group);
    }

    /** Whether this worker takes another group after the one that is done. If not, it stops. */
    private boolean isFollowed(List<Pending> done) {
        mutex.lock();
        try {
            release(done);
            // A group that is still away takes the waiting callers when it is back, unless they waited for this one.
            boolean followed = !waiting.isEmpty() && (groups == 1 || isAnotherWorthIt(done));
            if (!followed) {
                groups--;
            }
            return followed;
        } finally {
            mutex.unlock();
        }
    }

    private boolean isAnotherWorthIt(List<Pending> done) {
        Set<StateKey> back = new HashSet<>();
        done.forEach(pending -> back.addAll(pending.keys));
        int found = 0;
        for (Pending pending : waiting) {
            if (isReady(pending)) {
                if (++found >= WORTH_ANOTHER || !Collections.disjoint(pending.keys, back)) {
                    return true;
                }
            }
        }
        return false;
    }

    private void giveUp(List<Pending> group) {
        mutex.lock();
        try {
            release(group);
            groups--;
        } finally {
            mutex.unlock();
        }
    }

    /** The mutex must be held. */
    private void release(List<Pending> group) {
        for (Pending pending : group) {
            pending.keys.forEach(keysAtStore::remove);
        }
    }

    /**
     * Removes a caller that has missed its deadline, so that it is not sent to the store.
     *
     * @return whether it still waited, so that it is never sent
     */
    public boolean leave(Pending pending) {
        mutex.lock();
        try {
            boolean waited = waiting.remove(pending);
            if (waited && ready > 0 && isReady(pending)) {
                ready--;
            }
            return waited;
        } finally {
            mutex.unlock();
        }
    }
}
