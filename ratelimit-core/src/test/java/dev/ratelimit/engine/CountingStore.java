package dev.ratelimit.engine;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Operation;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A store in memory that counts how often it is asked. */
final class CountingStore extends ForwardingLimitStore {

    private final AtomicInteger asked = new AtomicInteger();
    private volatile Runnable afterDeciding = () -> {};

    CountingStore(InstantSource clock) {
        super(new MemoryLimitStore(clock));
    }

    /** How many operations it was asked to decide. */
    int asked() {
        return asked.get();
    }

    /** Is run after a group was decided and before anybody is told. */
    void afterDeciding(Runnable work) {
        afterDeciding = work;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        asked.addAndGet(group.size());
        List<Answer> answers = super.decide(group);
        afterDeciding.run();
        return answers;
    }
}
