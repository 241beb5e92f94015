package dev.ratelimit.engine;

import dev.ratelimit.engine.queue.Breaker;
import dev.ratelimit.engine.queue.GroupQueue;
import dev.ratelimit.engine.queue.GroupWatch;
import dev.ratelimit.engine.queue.Pending;
import dev.ratelimit.engine.queue.UndecidedException;
import dev.ratelimit.store.Operation.Demand;
import dev.ratelimit.store.StateKey;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The way of requests that need several parts of the store. They have a queue of their own, so that they hold up no request
 * that needs one part only. They go only if none of their parts is known to be down.
 */
final class AcrossParts implements Lane, GroupWatch {

    private final StoreParts parts;
    private final GroupQueue queue;

    AcrossParts(StoreParts parts) {
        this.parts = parts;
        this.queue = parts.queues().queue(this);
    }

    @Override
    public void check(Pending pending) throws UndecidedException {
        boolean closed = true;
        // First without trying any of them: a part that is tried in vain is not tried again for a while.
        for (Demand demand : pending.operation.demands()) {
            Breaker breaker = parts.part(demand).breaker;
            breaker.refuseIfOpen();
            closed &= breaker.isClosed();
        }
        if (!closed) {
            // Each of them once: the second try of the same part would be refused.
            for (StorePart part : parts(List.of(pending))) {
                part.breaker.check();
            }
        }
    }

    @Override
    public GroupQueue queue() {
        return queue;
    }

    @Override
    public void decided(Pending pending) {
        for (Demand demand : pending.operation.demands()) {
            parts.part(demand).health.decided();
        }
    }

    @Override
    public void undecided(Pending pending, UndecidedException e) {
        // If it was late or refused, the parts that have failed before are to blame.
        Set<StorePart> failing = parts.named(e.getCause());
        if (failing.isEmpty()) {
            failing = parts(List.of(pending));
            failing.removeIf(part -> part.breaker.isClosed());
        }
        for (Demand demand : pending.operation.demands()) {
            StorePart part = parts.part(demand);
            if (failing.isEmpty() || failing.contains(part)) {
                part.undecided(demand, e);
            }
        }
    }

    @Override
    public void answered(List<Pending> group) {
        parts(group).forEach(part -> part.breaker.succeeded());
    }

    @Override
    public void failed(List<Pending> decided, List<Pending> undecided, Throwable failure, long askedAt) {
        Set<StorePart> failing = parts.named(failure);
        if (failing.isEmpty()) {
            failing = parts(undecided);
        }
        Set<StorePart> answering = parts(decided);
        failing.removeAll(answering);
        UndecidedException reason = UndecidedException.failed(failure);
        for (StorePart part : failing) {
            part.breaker.failed(reason, askedAt);
        }
        answering.forEach(part -> part.breaker.succeeded());
    }

    private Set<StorePart> parts(List<Pending> group) {
        Set<StorePart> all = new HashSet<>();
        for (Pending pending : group) {
            for (Demand demand : pending.operation.demands()) {
                all.add(parts.part(demand));
            }
        }
        return all;
    }

    /** Each part brings its own. */
    @Override
    public boolean brings(StateKey key) {
        return false;
    }
}
