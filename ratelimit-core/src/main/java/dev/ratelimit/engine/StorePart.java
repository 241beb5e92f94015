package dev.ratelimit.engine;

import dev.ratelimit.engine.queue.Breaker;
import dev.ratelimit.engine.queue.GroupQueue;
import dev.ratelimit.engine.queue.GroupWatch;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.util.List;
import java.util.Set;

/**
 * One part of the store, such as a shard, with its queue and breaker; and the way of requests that need only this part. A
 * store without parts is one part.
 */
final class StorePart implements Lane, GroupWatch {

    private final StoreParts parts;
    private final GroupQueue queue;
    final Breaker breaker;
    final StoreHealth.Part health;

    /** A demand on this part, to ask it for. */
    private volatile Demand example;

    /**
     * @param example a demand on this part
     */
    StorePart(StoreParts parts, Breaker breaker, StoreHealth.Part health, Demand example) {
        this.parts = parts;
        this.breaker = breaker;
        this.health = health;
        this.example = example;
        this.queue = parts.queues().queue(this);
    }

    Demand example() {
        return example;
    }

    /** Whether the store no longer keeps anything here that requests have asked for, as after a change of its parts. */
    boolean isAbandoned() {
        return !parts.isOf(example.key(), this);
    }

    @Override
    public void check(Pending pending) throws UndecidedException {
        breaker.check();
    }

    @Override
    public GroupQueue queue() {
        return queue;
    }

    @Override
    public void decided(Pending pending) {
        health.decided();
    }

    @Override
    public void undecided(Pending pending, UndecidedException e) {
        undecided(pending.operation.demands().get(0), e);
    }

    /** A demand on this part was not decided. */
    void undecided(Demand demand, UndecidedException e) {
        example = demand;
        health.undecided(e);
    }

    @Override
    public void answered(List<Pending> group) {
        // A store that answers is not down because its callers have left.
        breaker.succeeded();
    }

    @Override
    public void failed(List<Pending> decided, List<Pending> undecided, Throwable failure, long askedAt) {
        Set<StorePart> named = parts.named(failure);
        UndecidedException reason = UndecidedException.failed(failure);
        for (StorePart part : named.isEmpty() ? Set.of(this) : named) {
            if (part != this || decided.isEmpty()) {
                part.breaker.failed(reason, askedAt);
            }
        }
        if (!decided.isEmpty()) {
            answered(decided);
        }
    }

    @Override
    public boolean brings(StateKey key) {
        return parts.isOf(key, this);
    }

    /** The store has moved everything elsewhere: nobody would find out that the part is back. */
    void abandon() {
        breaker.succeeded();
        health.forget();
    }
}
