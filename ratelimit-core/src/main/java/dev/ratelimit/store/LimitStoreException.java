package dev.ratelimit.store;

/** The store could not be reached, or failed. */
public class LimitStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public LimitStoreException(String message, Throwable cause) {
        super(message, cause);
    }
}
