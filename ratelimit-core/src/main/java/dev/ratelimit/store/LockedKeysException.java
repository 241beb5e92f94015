package dev.ratelimit.store;

import java.util.Set;

/** Nothing was decided, since others hold some rows of the group. The rest of the group can be decided without these. */
public final class LockedKeysException extends LimitStoreException {

    private static final long serialVersionUID = 1L;

    private final transient Set<StateKey> keys;

    public LockedKeysException(Set<StateKey> keys, Throwable cause) {
        super("the state of " + keys.size() + " subjects is locked by another process", cause);
        this.keys = Set.copyOf(keys);
    }

    public Set<StateKey> keys() {
        return keys;
    }
}
