package dev.ratelimit.store;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Some operations were not decided, since another process holds their rows, or since their rows are unusable. The store itself is
 * well. Decide those again that have no answer, without these keys.
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
        this("the state of " + keys.size() + " subjects is locked by another process", keys, answers, cause);
    }

    /**
     * For rows that cannot be decided for another reason.
     *
     * @param keys those that stood in the way; empty if only the operations without an answer are concerned
     * @param answers in the order of the group, {@code null} where an operation was not decided
     */
    public LockedKeysException(String message, Set<StateKey> keys, List<@Nullable Answer> answers, Throwable cause) {
        super(message, answers, cause);
        this.keys = Set.copyOf(keys);
    }

    public Set<StateKey> keys() {
        return keys;
    }

    @Override
    public boolean isSurelyUndone() {
        return true;
    }
}
