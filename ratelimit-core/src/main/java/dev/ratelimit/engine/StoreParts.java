package dev.ratelimit.engine;

import dev.ratelimit.engine.queue.Breaker;
import dev.ratelimit.engine.queue.GroupQueue;
import dev.ratelimit.engine.queue.GroupQueues;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the store that requests have met so far. Each has its own queue and breaker, so that a part that is down
 * fails only its own subjects. Thread-safe.
 */
final class StoreParts {

    /** Beyond this number, parts share queues and breakers. */
    private static final int MOST = 1024;

    private final LimitStore store;
    private final GroupQueues queues;
    private final StoreHealth health;
    private final Duration deadline;
    private final AtomicReferenceArray<@Nullable StorePart> byNumber = new AtomicReferenceArray<>(MOST);
    private final List<StorePart> all = new CopyOnWriteArrayList<>();
    private volatile @Nullable AcrossParts across;

    /**
     * @param deadline how long a part must have failed before its breaker opens
     */
    StoreParts(LimitStore store, GroupQueues queues, StoreHealth health, Duration deadline) {
        this.store = store;
        this.queues = queues;
        this.health = health;
        this.deadline = deadline;
    }

    /** The way of that operation. */
    Lane lane(Pending pending) {
        List<StateKey> keys = pending.keys;
        int number = number(keys.get(0));
        for (int i = 1; i < keys.size(); i++) {
            if (number(keys.get(i)) != number) {
                return across();
            }
        }
        return part(number, pending.operation.demands().get(0));
    }

    private int number(StateKey key) {
        return number(store.part(key));
    }

    private static int number(int part) {
        return part & (MOST - 1);
    }

    StorePart part(Demand demand) {
        return part(number(demand.key()), demand);
    }

    private StorePart part(int number, Demand example) {
        StorePart known = byNumber.get(number);
        return known != null ? known : meet(number, example);
    }

    private synchronized StorePart meet(int number, Demand example) {
        StorePart known = byNumber.get(number);
        if (known != null) {
            return known;
        }
        StorePart made = new StorePart(this, new Breaker(Breaker.INTERVAL, deadline), health.newPart(), example);
        byNumber.set(number, made);
        all.add(made);
        return made;
    }

    private AcrossParts across() {
        AcrossParts known = across;
        return known != null ? known : meetAcross();
    }

    private synchronized AcrossParts meetAcross() {
        AcrossParts known = across;
        if (known == null) {
            known = new AcrossParts(this);
            across = known;
        }
        return known;
    }

    GroupQueues queues() {
        return queues;
    }

    /** Whether that part holds the state of the key. */
    boolean isOf(StateKey key, StorePart part) {
        return byNumber.get(number(key)) == part;
    }

    /** The parts that an exception names. Empty if it names none that is known. */
    Set<StorePart> named(@Nullable Throwable failure) {
        Set<StorePart> named = new HashSet<>();
        if (failure instanceof LimitStoreException e) {
            for (int part : e.parts()) {
                StorePart known = byNumber.get(number(part));
                if (known != null) {
                    named.add(known);
                }
            }
        }
        return named;
    }

    /** All parts that requests have met. */
    List<StorePart> all() {
        return all;
    }

    List<GroupQueue> allQueues() {
        List<GroupQueue> found = new ArrayList<>();
        all.forEach(part -> found.add(part.queue()));
        AcrossParts several = across;
        if (several != null) {
            found.add(several.queue());
        }
        return found;
    }

    /** Forgets the failures of parts that the store no longer has: nobody would find out that they are over. */
    void forgetAbandoned() {
        for (StorePart part : all) {
            if (!part.health.isAvailable() && part.isAbandoned()) {
                part.abandon();
            }
        }
    }

    /** Asks every part with the next request, whatever happened before. */
    void forgetFailures() {
        all.forEach(part -> part.breaker.succeeded());
        queues.forgetLocks();
    }
}
