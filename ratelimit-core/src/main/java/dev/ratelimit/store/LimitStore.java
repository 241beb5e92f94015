package dev.ratelimit.store;

import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the state of limits lives. Safe for use by many threads.
 */
public interface LimitStore extends AutoCloseable {

    /**
     * Decides a group of operations. Each gets its own answer, as if they had arrived one after another in the order of
     * the list, all at the same moment. An operation over several limits is charged on all of them or on none. A denied
     * operation changes nothing but the count of violations on limits with penalties.
     *
     * <p>When this returns, all decisions are stored, as durably as the store is. If it throws, usually nothing was
     * stored. But if the database failed during or after a commit, some operations may have been charged, each as a
     * whole. A store that decides a group in parts reports with {@link LimitStoreException#answers()} which operations
     * it had decided before it failed.
     *
     * @return the answers, in the order of the group
     * @throws LimitStoreException if the store cannot be reached or fails
     */
    List<Answer> decide(List<Operation> group);

    /** Decides one operation alone: as a group of one. */
    default Answer decide(Operation operation) {
        return decide(List.of(operation)).get(0);
    }

    /** Decides one demand alone: as an operation of one. */
    default Answer decide(Operation.Demand demand) {
        return decide(new Operation(Operation.Kind.DECIDE, List.of(demand)));
    }

    /**
     * Whether {@link #decide} takes no longer than a computation does, and never fails: then each caller asks it directly.
     */
    default boolean isImmediate() {
        return false;
    }

    /**
     * Whether {@link #decide(List)} returns within a short time of its own whatever happens to the database. Callers then make
     * the call on their own threads; for other stores a worker makes it, and the caller waits no longer than its
     * deadline.
     */
    default boolean answersInTime() {
        return false;
    }

    /** How many groups are best given to it at the same moment: one, where they would wait for each other anyway. */
    default int groupsAtOnce() {
        return 1;
    }

    /**
     * The part of the store that holds the state of that key, such as a shard or a node of a cluster. Each part has its
     * own queue and breaker, so that a part that is down fails only its own subjects. Callers ask this for each
     * request: it must not block.
     *
     * <p>The number may change while the store runs, for instance when a shard is added. It only chooses the requests
     * that one waits with: a wrong one costs time, never exactness.
     *
     * @return a number that is not negative; best a small one
     */
    default int part(StateKey key) {
        return 0;
    }

    /**
     * Whether other instances changed the state of that key so often lately that a lease is worthwhile. It must not
     * block.
     */
    default boolean isContended(StateKey key) {
        return false;
    }

    /**
     * The clock that the store was given, or {@code null} if its time passes as on this machine. Waiting is measured by it,
     * so that a test which sets the clock is never given an answer of before.
     */
    default @Nullable InstantSource clock() {
        return null;
    }

    /**
     * Deletes state that says no more than no state at all, and violations that are forgotten. Each call looks at a
     * bounded number of rows and continues where the last one stopped. It neither waits for another process nor touches
     * a live row.
     *
     * @param keepMicros how long such rows are kept nonetheless
     */
    Pruned prune(long keepMicros);

    @Override
    void close();
}
