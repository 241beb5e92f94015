package dev.ratelimit.connection;

import dev.ratelimit.store.LimitStoreException;

/** The class path has no JDBC driver for the database. */
public final class MissingDriverException extends LimitStoreException {

    private static final long serialVersionUID = 1L;

    /**
     * @param url such as {@code jdbc:sqlite}
     */
    public MissingDriverException(String url, Throwable cause) {
        super("the class path has no JDBC driver for " + url, cause);
    }
}
