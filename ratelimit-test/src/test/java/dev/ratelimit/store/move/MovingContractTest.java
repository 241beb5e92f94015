package dev.ratelimit.store.move;

import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.store.Pruned;
import dev.ratelimit.test.store.LimitStoreContract;
import java.time.InstantSource;

/** Two stores that count together keep the whole contract of one. */
class MovingContractTest extends LimitStoreContract {

    private Rows rows;

    @Override
    protected LimitStore open(InstantSource clock) {
        rows = new Rows(new MemoryLimitStore(clock));
        return new MovingLimitStore(new MemoryLimitStore(clock), rows);
    }

    @Override
    protected boolean isStored(String subject) {
        return !rows.isPruned();
    }

    /** Remembers whether its only row was deleted. */
    private static final class Rows extends ForwardingLimitStore {

        private volatile boolean pruned;

        Rows(LimitStore store) {
            super(store);
        }

        @Override
        public Pruned prune(long keepMicros) {
            Pruned step = super.prune(keepMicros);
            pruned |= step.states() == 1;
            return step;
        }

        boolean isPruned() {
            return pruned;
        }
    }
}
