package dev.ratelimit.store;

import java.util.ArrayList;
import java.util.Collections;
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
    private final transient List<@Nullable Answer> answers;

    /** No operation was decided. */
    public LockedKeysException(Set<StateKey> keys, Throwable cause) {
        this(keys, List.of(), cause);
    }

    /**
     * @param answers in the order of the group, {@code null} where an operation was not decided
     */
    public LockedKeysException(Set<StateKey> keys, List<@Nullable Answer> answers, Throwable cause) {
        super("the state of " + keys.size() + " subjects is locked by another process", cause);
        this.keys = Set.copyOf(keys);
        this.answers = Collections.unmodifiableList(new ArrayList<>(answers));
    }

    public Set<StateKey> keys() {
        return keys;
    }

    /** In the order of the group, {@code null} where an operation was not decided; empty if none was. */
    public List<@Nullable Answer> answers() {
        return answers;
    }
}
