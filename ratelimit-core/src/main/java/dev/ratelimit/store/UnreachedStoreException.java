package dev.ratelimit.store;

/** There was no connection to the store: nothing was decided or changed. */
public final class UnreachedStoreException extends LimitStoreException {

    private static final long serialVersionUID = 1L;

    public UnreachedStoreException(String message, Throwable cause) {
        super(message, cause);
    }
}
