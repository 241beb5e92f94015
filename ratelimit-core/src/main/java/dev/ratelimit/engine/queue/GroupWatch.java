package dev.ratelimit.engine.queue;

import dev.ratelimit.store.StateKey;
import java.util.List;

/** Is told how the store fares with the groups of one queue. */
public interface GroupWatch {

    /** The store has answered a whole group. */
    void answered(List<Pending> group);

    /**
     * The store has failed.
     *
     * @param decided those of the group that it has answered all the same
     * @param undecided the others
     * @param askedAt when it was asked
     */
    void failed(List<Pending> decided, List<Pending> undecided, Throwable failure, long askedAt);

    /** Whether a debt of that key is brought to the store by this queue. */
    boolean brings(StateKey key);
}
