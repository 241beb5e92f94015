package dev.ratelimit.store.shard;

import dev.ratelimit.algorithm.State;
import dev.ratelimit.algorithm.Violations;
import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.StateKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Beside the state in each shard: the lists of shards, and the way of state from one shard to another. All methods throw
 * {@link LimitStoreException} if the database cannot be reached or fails. Safe for use by many threads.
 */
public interface ShardTables {

    /**
     * A list of shards as a database has it.
     *
     * @param version the first is 1
     * @param names of all shards of the list; limits and rules are in the first
     * @param here the name of the shard that this database is
     * @param moved whether all state that the list gives to other shards has left this database
     */
    record Recorded(int version, List<String> names, String here, boolean moved) {

        public Recorded {
            names = List.copyOf(names);
        }
    }

    /**
     * The state of a key on its way to another shard.
     *
     * @param state {@link State#FRESH} if there is none
     */
    record Leaving(StateKey key, State state, Violations violations) {}

    /** Whether the database has been unavailable since startup. Its shard {@linkplain ShardedLimitStore#join joins} later. */
    default boolean isAwaited() {
        return false;
    }

    /** All lists, by version. */
    List<Recorded> read();

    /**
     * Records a list, unless there is one of that version.
     *
     * @return the list of that version
     */
    Recorded record(Recorded list);

    /** Whether there is any state. */
    boolean hasState();

    /**
     * Marks keys as moved, and returns their state. From then on, no operation on them is decided here. The mark keeps the
     * state: a key that has left before is returned as it left.
     *
     * @param forgotten whether the marks are emptied: the state has arrived, or nobody is to have it
     */
    List<Leaving> leave(List<StateKey> keys, int version, boolean forgotten);

    /** Stores state that has left another shard. A key that has state already keeps it. */
    void arrive(List<Leaving> rows);

    /** The next keys after that one whose state is still here, also in a mark. */
    List<StateKey> keysAfter(@Nullable StateKey key, int most);

    /** Records that all state that the list of that version gives to other shards has left, unless a mark still keeps some. */
    void allMoved(int version);
}
