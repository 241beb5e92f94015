package dev.ratelimit.connection;

import org.jspecify.annotations.Nullable;

/** Rate limits cannot be kept in a database of the application: there are several, or it is of an unsupported product. */
public final class UnusableDataSourceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean mustBeReported;

    public UnusableDataSourceException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    /**
     * @param mustBeReported whether another store must not be chosen instead
     */
    UnusableDataSourceException(String message, @Nullable Throwable cause, boolean mustBeReported) {
        super(message, cause);
        this.mustBeReported = mustBeReported;
    }

    /** Whether another store must not be chosen instead: it is a mistake, or may be usable at the next start. */
    public boolean mustBeReported() {
        return mustBeReported;
    }
}
