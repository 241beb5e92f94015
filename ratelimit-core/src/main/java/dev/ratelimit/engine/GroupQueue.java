package dev.ratelimit.engine;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import dev.ratelimit.store.StateKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Combines callers into groups.
 *
 * <ol>
 *   <li>A caller that finds no group at the store is a group of its own: it calls the store at once, on its own thread, and
 *       pays for no hand-over. Only where the store may keep the caller for longer than its deadline, or would hold on
 *       to the carrier of a virtual thread, a worker makes the call for it.
 *   <li>Whoever comes meanwhile waits in the queue.
 *   <li>When the first is done and somebody waits, a worker takes over: all that wait (up to the size of a group) are
 *       the next group, and so on until nobody waits. The first caller is free to go.
 *   <li>Another group goes while one is at the store if so many wait that it is worth its own call. What waits for a key
 *       that is at the store is left for later: two groups would meet on its row, and one wait for the other.
 * </ol>
 *
 * So a request waits for a group that was at the store when it came, and its own: for no more than two, unless more wait
 * than a group holds.
 */
final class GroupQueue {

    /** A call has a cost of its own, as large as that of about eight requests in it; with so many it is a small part. */
    static final int WORTH_ANOTHER = 24;

    private final LimitStore store;
    private final int mostGroups;
    private final int maxGroupSize;
    private final int maxWaiting;
    private final Executor workers;
    private final Breaker breaker;

    private final ReentrantLock mutex = new ReentrantLock();
    private final ArrayDeque<Pending> waiting = new ArrayDeque<>();

    /** How many groups are at the store, or about to go. */
    private int groups;

    /** The keys of the groups at the store. */
    private final Set<StateKey> keysAtStore = new HashSet<>();

    /** How many of those who wait do so for no key. */
    private int ready;

    GroupQueue(LimitStore store, Grouping grouping, Executor workers, Breaker breaker) {
        this.store = store;
        this.mostGroups = grouping.groupsInFlight();
        this.maxGroupSize = grouping.maxGroupSize();
        this.maxWaiting = grouping.maxWaiting();
        this.workers = workers;
        this.breaker = breaker;
    }

    Answer submit(Operation operation, long deadlineNanos) throws UndecidedException {
        Pending pending = new Pending(operation);
        Turn turn = enter(pending, store.answersInTime() && !VirtualThreads.isCurrent());
        if (turn == Turn.LEAD) {
            if (decide(List.of(pending))) {
                startWorker();
            }
        } else {
            if (turn == Turn.START_GROUP) {
                startWorker();
            }
            if (!pending.await(deadlineNanos)) {
                leave(pending);
                throw UndecidedException.late();
            }
        }
        return pending.answer();
    }

    /** Leaves an operation to the workers; nobody waits for it. */
    void submitLater(Pending pending) throws UndecidedException {
        if (enter(pending, false) == Turn.START_GROUP) {
            startWorker();
        }
    }

    /** What who has come is to do. */
    private enum Turn {
        /** Ask the store, as a group of its own. */
        LEAD,
        /** Have a worker take a group, and wait. */
        START_GROUP,
        WAIT
    }

    private Turn enter(Pending pending, boolean mayLead) throws UndecidedException {
        mutex.lock();
        try {
            if (groups > 0 && waiting.size() >= maxWaiting) {
                throw UndecidedException.overloaded(waiting.size());
            }
            if (groups == 0 && mayLead) {
                groups = 1;
                keysAtStore.add(pending.key);
                return Turn.LEAD;
            }
            waiting.add(pending);
            if (!keysAtStore.contains(pending.key)) {
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

    /** Has a worker take the groups that follow. */
    private void startWorker() {
        try {
            workers.execute(this::work);
        } catch (RejectedExecutionException e) {
            // Closed meanwhile: who still waits is told.
            for (List<Pending> group = nextGroup(); !group.isEmpty(); group = nextGroup()) {
                Pending.complete(group, place -> UndecidedException.closed());
                release(group);
            }
        } catch (OutOfMemoryError e) {
            // No thread can be had: rather be late than leave those who wait, and all who come later, without anyone.
            work();
        }
    }

    private void work() {
        boolean more = true;
        while (more) {
            List<Pending> group = nextGroup();
            more = !group.isEmpty() && decide(group);
        }
    }

    /** Those who wait for no key, up to the size of a group; if there are none, one group less is at the store. */
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
        while (group.size() < maxGroupSize && !waiting.isEmpty()) {
            Pending next = waiting.remove();
            if (keysAtStore.contains(next.key)) {
                passedOver.add(next);
            } else {
                group.add(next);
            }
        }
        ready = waiting.size();
        while (!passedOver.isEmpty()) {
            waiting.addFirst(passedOver.removeLast());
        }
        for (Pending taken : group) {
            keysAtStore.add(taken.key);
        }
        return group;
    }

    /**
     * Decides a group. Who ends by an error, such as a lack of memory, leaves those who wait to whoever comes next.
     *
     * @return whether another is to follow
     */
    private boolean decide(List<Pending> group) {
        boolean told = false;
        try {
            askStore(group);
            told = true;
        } finally {
            if (!told) {
                giveUp(group);
            }
        }
        return isFollowed(group);
    }

    private void askStore(List<Pending> group) {
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

    /** Whether another group is to follow the one that is done; if not, one less is at the store. */
    private boolean isFollowed(List<Pending> done) {
        mutex.lock();
        try {
            // If another group is away, it takes those who wait when it is back, unless they have waited for this one.
            boolean followed = !waiting.isEmpty() && (groups == 1 || waiting.size() >= WORTH_ANOTHER || isKeyAwaited());
            release(done);
            if (!followed) {
                groups--;
            }
            return followed;
        } finally {
            mutex.unlock();
        }
    }

    private boolean isKeyAwaited() {
        for (Pending pending : waiting) {
            if (keysAtStore.contains(pending.key)) {
                return true;
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

    private void release(List<Pending> group) {
        mutex.lock();
        try {
            for (Pending pending : group) {
                keysAtStore.remove(pending.key);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Who has waited for too long is not sent to the store any more. */
    private void leave(Pending pending) {
        mutex.lock();
        try {
            if (waiting.remove(pending) && ready > 0 && !keysAtStore.contains(pending.key)) {
                ready--;
            }
        } finally {
            mutex.unlock();
        }
    }
}
