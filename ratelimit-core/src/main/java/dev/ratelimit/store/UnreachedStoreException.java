package dev.ratelimit.store;

import java.util.List;
import java.util.Set;

/** There was no connection to the store, or it refused everything: nothing was decided or changed. */
public final class UnreachedStoreException extends LimitStoreException {

    private static final long serialVersionUID = 1L;

    public UnreachedStoreException(String message, Throwable cause) {
        super(message, cause);
    }

    /**
     * @param parts the {@linkplain LimitStore#part parts of the store} that failed
     */
    public UnreachedStoreException(String message, Set<Integer> parts, Throwable cause) {
        super(message, List.of(), parts, cause);
    }

    @Override
    public boolean isSurelyUndone() {
        return true;
    }
}
