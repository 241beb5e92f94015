package dev.ratelimit.store;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Some operations were not decided, since another process holds their rows. Decide those again that have no answer, without
 * the locked keys.
 */
public final class LockedKeysException extends LimitStoreException {

    private static final long serialVersionUID = 1L;

    private final transient Set<StateKey> keys;

    /** No operation was decided. */
    public LockedKeysException(Set<StateKey> keys, Throwable cause) {
        this(keys, List.of(), cause);
    }

    /**
     * @param answers in the order of the group, {@code null} where an operation was not decided
     */
    public LockedKeysException(Set<StateKey> keys, List<@Nullable Answer> answers, Throwable cause) {
        super("the state of " + keys.size() + " subjects is locked by another process", answers, cause);
        this.keys = Set.copyOf(keys);
    }

    public Set<StateKey> keys() {
        return keys;
    }
}
