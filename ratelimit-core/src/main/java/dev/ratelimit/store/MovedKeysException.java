package dev.ratelimit.store;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Some operations were not decided, since another store has taken over the state of their keys. */
public final class MovedKeysException extends LimitStoreException {

    private static final long serialVersionUID = 1L;

    private final transient Set<StateKey> keys;

    /**
     * @param answers in the order of the group, {@code null} where an operation was not decided
     */
    public MovedKeysException(Set<StateKey> keys, List<@Nullable Answer> answers) {
        super(
                "the state of " + keys.size() + " subjects has moved to another shard",
                answers,
                new IllegalStateException("moved: " + keys.iterator().next().subject()));
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
