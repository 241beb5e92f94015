package dev.ratelimit.store;

import dev.ratelimit.test.store.LimitStoreContract;
import java.time.InstantSource;

class MemoryLimitStoreTest extends LimitStoreContract {

    @Override
    protected LimitStore open(InstantSource clock) {
        return new MemoryLimitStore(clock);
    }

    @Override
    protected boolean isStored(String subject) {
        return ((MemoryLimitStore) store).state(new StateKey(subject, "scheduled")) != null;
    }

    @Override
    protected String databaseInUse() {
        return store.getClass().getSimpleName();
    }

    @Override
    protected String expectedDatabase() {
        return "MemoryLimitStore";
    }
}
