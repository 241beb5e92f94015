package dev.ratelimit.engine.lease;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Verdict;
import dev.ratelimit.engine.queue.WorkQueue;
import dev.ratelimit.store.Answer;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import dev.ratelimit.support.DaemonThreads;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes permits of hot subjects in advance, and serves requests from them without asking the store.
 *
 * <ol>
 *   <li>A request on a limit with a lease is served from the lease of its subject, if enough permits of it still count.
 *   <li>Otherwise, if the last answer of the store left enough, one of the waiting callers takes the next lease. The
 *       others wait for it. A lease has as many permits as the limit says, and no fewer than there are waiting callers.
 *       It takes at most half of the remaining permits, so that other instances find some, too.
 *   <li>An automatic lease begins small when the store was asked a few times in a moment. It begins larger if the store
 *       says that other instances fight over the subject. It grows while leases are used up, and shrinks when permits lapse.
 *   <li>If little remained, or no lease was granted, requests ask the store one by one, as without leases.
 *   <li>A lease is given back when it has been idle for a moment, or when a larger one replaces it. So is a lease that
 *       arrives after the deadline of its caller. All are given back when the limiter is closed. If the process dies,
 *       its permits stay charged until their window ends or the bucket refills. The same happens if the subject is
 *       reset or the limit changes: an old charge says nothing about the new row.
 * </ol>
 *
 * The number of subjects with leases is bounded; requests of other subjects ask the store. Nothing is admitted twice. A
 * permit is charged in the store first, then served once, and only while it counts there ({@link
 * dev.ratelimit.algorithm.Charge#servable}). Thread-safe.
 */
public final class Leases {

    private static final Logger log = LoggerFactory.getLogger(Leases.class);

    private static final long IDLE_MILLIS = 250;
    private static final int MOST_SUBJECTS = 10_000;

    /** How many leases are given back together. */
    private static final int GIVEN_BACK_AT_ONCE = 256;

    /**
     * A request that was served from a lease.
     *
     * @param clock the store's clock
     */
    public record Served(HeldLease lease, long remaining, long clock) {

        public Verdict verdict() {
            return lease.verdict();
        }
    }

    private final LeaseCalls store;
    private final Predicate<StateKey> isContended;
    private final LongSupplier nanoTime;
    private final ConcurrentHashMap<StateKey, HotSubject> subjects = new ConcurrentHashMap<>();
    private @Nullable ScheduledThreadPoolExecutor timer;
    private volatile boolean closed;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /**
     * @param isCurrent whether a limit is still what its name stands for
     * @param isContended whether other instances often ask for the same key
     * @param deadline how long the store may take for an answer
     * @param nanoTime measures how long a lease is held
     */
    public Leases(
            WorkQueue store,
            Predicate<Limit> isCurrent,
            Predicate<StateKey> isContended,
            Duration deadline,
            LongSupplier nanoTime) {
        this.store = new LeaseCalls(store, isCurrent, deadline);
        this.isContended = isContended;
        this.nanoTime = nanoTime;
    }

    /**
     * Serves the request, if it can be without asking the store for it alone.
     *
     * @param deadlineNanos until when to wait, in the time of {@link System#nanoTime()}
     * @return {@code null} if the store is to be asked
     */
    public @Nullable Served serve(Demand demand, long deadlineNanos) {
        return counted(serveIfHot(demand, deadlineNanos));
    }

    private @Nullable Served counted(@Nullable Served served) {
        (served == null ? misses : hits).increment();
        return served;
    }

    private @Nullable Served serveIfHot(Demand demand, long deadlineNanos) {
        HotSubject hot = subjects.get(demand.key());
        if (hot == null || closed) {
            return null;
        }
        hot.lock.lock();
        try {
            while (true) {
                HeldLease held = hot.held;
                if (held != null && !held.isOf(demand.limit())) {
                    if (store.isCurrent(held.limit())) {
                        return null; // another tier holds the lease
                    }
                    hot.held = null;
                    held = null;
                }
                long nanos = nanoTime.getAsLong();
                if (held != null && held.serve(demand.cost(), nanos)) {
                    return new Served(held, held.remaining(), held.clock(nanos));
                }
                if (!hot.isWorthALease(demand)) {
                    return null;
                }
                if (!hot.isTaking()) {
                    return take(hot, demand, deadlineNanos);
                }
                if (!hot.await(deadlineNanos)) {
                    return null;
                }
            }
        } finally {
            hot.lock.unlock();
        }
    }

    /**
     * Puts permits back that were served.
     *
     * @return whether it was done; {@code false} if their lease is no longer held, and then they stay charged
     */
    public boolean putBack(Demand demand, Served served) {
        HotSubject hot = subjects.get(demand.key());
        if (hot == null) {
            return false;
        }
        hot.lock.lock();
        try {
            boolean held = hot.held == served.lease;
            if (held) {
                served.lease.putBack(demand.cost());
            }
            return held;
        } finally {
            hot.lock.unlock();
        }
    }

    /** Takes a lease and serves the request from it. The lock is not held while the store is asked. */
    private @Nullable Served take(HotSubject hot, Demand demand, long deadlineNanos) {
        Taking taking = begin(hot, demand);
        hot.lock.unlock();
        Answer answer = null;
        try {
            CompletableFuture<Answer> asked = store.take(demand, taking.permits);
            answer = LeaseCalls.await(asked, deadlineNanos);
            if (answer == null) {
                // The request asks the store by itself.
                var unused = asked.thenAccept(late -> store.giveBackAll(demand, late, taking.askedNanos));
            }
        } finally {
            hot.lock.lock();
            hot.end();
        }
        return end(taking, answer);
    }

    /** A lease that is being taken. */
    private record Taking(
            HotSubject hot,
            Demand demand,
            long permits,
            @Nullable HeldLease before,
            long askedNanos) {}

    /** The lock must be held. */
    private Taking begin(HotSubject hot, Demand demand) {
        hot.begin();
        return new Taking(hot, demand, hot.size(demand), hot.held, nanoTime.getAsLong());
    }

    /** The lock must be held. */
    private @Nullable Served end(Taking taking, @Nullable Answer answer) {
        HotSubject hot = taking.hot;
        Demand demand = taking.demand;
        HeldLease before = taking.before;
        if (answer == null) {
            hot.notGranted();
            return null;
        }
        Verdict verdict = answer.first();
        hot.remaining(verdict.remaining());
        if (!answer.allowed() || hot.dropped) {
            return null;
        }
        hot.taken(taking.permits, before);
        HeldLease taken = new HeldLease(demand.limit(), verdict, answer.now(), taking.askedNanos);
        if (before != null && hot.held == before && before.left() > 0) {
            var unused = store.giveBack(demand.subject(), before);
        }
        hot.held = taken;
        long nanos = nanoTime.getAsLong();
        return taken.serve(demand.cost(), nanos) ? new Served(taken, taken.remaining(), taken.clock(nanos)) : null;
    }

    /**
     * Serves the request without waiting for anybody. If a lease is to be taken, the request that takes it is served with it;
     * while another takes it, the store is asked.
     *
     * @return with {@code null} if the store is to be asked
     */
    public CompletableFuture<@Nullable Served> serveLater(Demand demand) {
        return serveIfHotLater(demand).thenApply(this::counted);
    }

    private CompletableFuture<@Nullable Served> serveIfHotLater(Demand demand) {
        HotSubject hot = subjects.get(demand.key());
        if (hot == null || closed) {
            return CompletableFuture.completedFuture(null);
        }
        Taking taking;
        hot.lock.lock();
        try {
            HeldLease held = hot.held;
            boolean ofAnother = held != null && !held.isOf(demand.limit());
            long nanos = nanoTime.getAsLong();
            if (held != null && !ofAnother && held.serve(demand.cost(), nanos)) {
                return CompletableFuture.completedFuture(new Served(held, held.remaining(), held.clock(nanos)));
            }
            if (ofAnother || hot.isTaking() || !hot.isWorthALease(demand)) {
                return CompletableFuture.completedFuture(null);
            }
            taking = begin(hot, demand);
        } finally {
            hot.lock.unlock();
        }
        return store.take(demand, taking.permits).handle((answer, failure) -> {
            hot.lock.lock();
            try {
                hot.end();
                return end(taking, answer);
            } finally {
                hot.lock.unlock();
            }
        });
    }

    /** Remembers the answer of the store on a limit with a lease. */
    public void observe(Demand demand, Verdict verdict) {
        HotSubject hot = subjects.get(demand.key());
        if (hot == null) {
            boolean worthIt = verdict.allowed() && verdict.remaining() >= 2 * demand.cost();
            if (closed || !worthIt || subjects.size() >= MOST_SUBJECTS) {
                return;
            }
            startTimer();
            hot = subjects.computeIfAbsent(demand.key(), key -> new HotSubject(demand.subject()));
        }
        boolean contended = demand.limit().lease().isAuto() && isContended.test(demand.key());
        hot.lock.lock();
        try {
            hot.asked(demand, verdict.remaining(), contended);
        } finally {
            hot.lock.unlock();
        }
    }

    private synchronized void startTimer() {
        if (timer == null && !closed) {
            ScheduledThreadPoolExecutor started =
                    new ScheduledThreadPoolExecutor(1, DaemonThreads.named("ratelimit-leases"));
            ScheduledFuture<?> unused =
                    started.scheduleWithFixedDelay(this::giveBackIdle, IDLE_MILLIS, IDLE_MILLIS, TimeUnit.MILLISECONDS);
            timer = started;
        }
    }

    public void giveBackIdle() {
        try {
            giveBack(false);
        } catch (RuntimeException | Error e) {
            // An exception that escapes would end the schedule.
            log.warn(
                    "Failed to give back idle leases; their permits stay charged: {}",
                    LogText.of(e.getMessage()),
                    LogText.trace(e));
        }
    }

    /** Gives back idle leases; or all of them, after waiting for those that are being taken. */
    private void giveBack(boolean all) {
        long until = store.deadline();
        List<CompletableFuture<Answer>> underWay = new ArrayList<>();
        for (Map.Entry<StateKey, HotSubject> entry : subjects.entrySet()) {
            HeldLease unused = withdraw(entry.getKey(), entry.getValue(), all, until);
            if (unused != null && unused.left() > 0) {
                underWay.add(store.giveBack(entry.getValue().subject, unused));
            }
            if (underWay.size() == GIVEN_BACK_AT_ONCE) {
                if (!store.areAnswered(underWay)) {
                    return; // a store that is down takes nothing back
                }
                underWay.clear();
            }
        }
        store.areAnswered(underWay);
    }

    /** The lease of a subject that needs it no longer; it is not hot from then on. */
    private @Nullable HeldLease withdraw(StateKey key, HotSubject hot, boolean inAnyCase, long until) {
        hot.lock.lock();
        try {
            if (inAnyCase) {
                hot.awaitTaken(until);
            }
            HeldLease held = hot.held;
            if (hot.isTaking() || !(inAnyCase || held == null || !held.wasUsed())) {
                return null;
            }
            hot.held = null;
            hot.dropped = true;
            subjects.remove(key, hot);
            return held;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        } finally {
            hot.lock.unlock();
        }
    }

    /** Drops the lease of the subject: its charge no longer counts. */
    public void drop(StateKey key) {
        HotSubject hot = subjects.remove(key);
        if (hot != null) {
            hot.lock.lock();
            try {
                hot.held = null;
                hot.dropped = true;
            } finally {
                hot.lock.unlock();
            }
        }
    }

    public void drop(Subject subject) {
        for (StateKey key : subjects.keySet()) {
            if (key.subject().equals(subject.text())) {
                drop(key);
            }
        }
    }

    public void drop() {
        new ArrayList<>(subjects.keySet()).forEach(this::drop);
    }

    /** How many requests were served. */
    public long hits() {
        return hits.sum();
    }

    /** How many requests had to ask the store. */
    public long misses() {
        return misses.sum();
    }

    /** The number of hot subjects: those that hold a lease, or may take one. */
    public long size() {
        return subjects.mappingCount();
    }

    public void close() {
        synchronized (this) {
            closed = true;
            if (timer != null) {
                timer.shutdown();
            }
        }
        giveBack(true);
    }
}
