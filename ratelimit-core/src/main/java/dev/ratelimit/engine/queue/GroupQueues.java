package dev.ratelimit.engine.queue;

import dev.ratelimit.store.LimitStore;
import java.time.Duration;
import java.util.concurrent.Executor;

/** Makes the queues of a store. They share the workers, the books and the keys that another process holds. Thread-safe. */
public final class GroupQueues {

    /** Much longer than a group takes that is not stuck. */
    private static final Duration STUCK_AFTER = Duration.ofMillis(10);

    final LimitStore store;
    final QueueSettings settings;
    final Executor workers;
    final Bookkeeping books;
    final Duration patience;
    final LockedKeys locked;

    public GroupQueues(LimitStore store, QueueSettings settings, Executor workers, Bookkeeping books) {
        this(store, settings, workers, books, STUCK_AFTER);
    }

    /**
     * @param patience how long a caller waits before a small second group goes
     */
    GroupQueues(LimitStore store, QueueSettings settings, Executor workers, Bookkeeping books, Duration patience) {
        this.store = store;
        this.settings = settings;
        this.workers = workers;
        this.books = books;
        this.patience = patience;
        this.locked = new LockedKeys(settings.deadline());
    }

    public GroupQueue queue(GroupWatch watch) {
        return new GroupQueue(this, watch);
    }

    /** Sends requests on every key again, also on those that another process held. */
    public void forgetLocks() {
        locked.clear();
    }
}
