package dev.ratelimit.engine.queue;

import dev.ratelimit.store.StateKey;
import java.util.List;

/** A store of one part, with one breaker. */
record BreakerWatch(Breaker breaker) implements GroupWatch {

    @Override
    public void answered(List<Pending> group) {
        breaker.succeeded();
    }

    @Override
    public void failed(List<Pending> decided, List<Pending> undecided, Throwable failure, long askedAt) {
        breaker.failed(UndecidedException.failed(failure), askedAt);
    }

    @Override
    public boolean brings(StateKey key) {
        return true;
    }
}
