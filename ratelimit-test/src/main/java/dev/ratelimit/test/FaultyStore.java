package dev.ratelimit.test;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import java.util.List;

/** A store that fails when the test wants it. */
final class FaultyStore extends ForwardingLimitStore {

    private final RateLimitFaults faults;

    FaultyStore(LimitStore store, RateLimitFaults faults) {
        super(store);
        this.faults = faults;
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        faults.beforeCall();
        return super.decide(group);
    }

    /** A caller must be able to leave a slow store. */
    @Override
    public boolean answersInTime() {
        return super.answersInTime() && !faults.isSlow();
    }
}
