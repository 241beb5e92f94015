package dev.ratelimit.connection;

import org.jspecify.annotations.Nullable;

/** Rate limits cannot be kept in a database of the application: there are several, or it is of an unsupported product. */
public final class UnusableDataSourceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UnusableDataSourceException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
