package dev.ratelimit.store.swap;

import dev.ratelimit.store.LimitStoreException;
import dev.ratelimit.store.StateKey;
import java.util.List;
import java.util.Set;

/** The rows of a store that writes them only if they are still as they were read. Safe for use by many threads. */
public interface SwapTable {

    /**
     * Reads rows and the clock, without waiting for anybody. Violations must not be older than the state of their row: a
     * newer state would have another version, an older one is found out when it is swapped.
     *
     * @param withViolations whether violations are needed, too
     * @throws LimitStoreException if the store cannot be reached or fails
     */
    SwapSnapshot read(Set<StateKey> keys, boolean withViolations);

    /**
     * Writes changes. Each is written as a whole, and only if all its rows are still as they were read. A change that is
     * written twice changes the rows once.
     *
     * @return the changes that were written; the others have changed nothing
     * @throws LimitStoreException if the store fails; some changes may have been written, each as a whole
     */
    Set<SwapChange> swap(List<SwapChange> changes);
}
