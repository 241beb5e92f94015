package dev.ratelimit.connection;

import org.jspecify.annotations.Nullable;

/** Rate limits cannot be kept in a database of the application: there are several, or it is of an unsupported product. */
public final class UnusableDataSourceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean mustBeReported;
    private final @Nullable String advice;

    public UnusableDataSourceException(String message, @Nullable Throwable cause) {
        this(message, cause, false);
    }

    /**
     * @param mustBeReported whether another store must not be chosen instead
     */
    UnusableDataSourceException(String message, @Nullable Throwable cause, boolean mustBeReported) {
        this(message, cause, mustBeReported, null);
    }

    private UnusableDataSourceException(
            String message, @Nullable Throwable cause, boolean mustBeReported, @Nullable String advice) {
        super(message, cause);
        this.mustBeReported = mustBeReported;
        this.advice = advice;
    }

    /**
     * @param names of the beans with {@code @RateLimitDataSource}
     */
    static UnusableDataSourceException severalMarked(String names) {
        return new UnusableDataSourceException(
                "several DataSources have the annotation @RateLimitDataSource: " + names,
                null,
                true,
                "Leave the annotation on one of them.");
    }

    /** The remedy, if it is not the choice of another database; else {@code null}. */
    public @Nullable String advice() {
        return advice;
    }

    /** Whether another store must not be chosen instead: it is a mistake, or may be usable at the next start. */
    public boolean mustBeReported() {
        return mustBeReported;
    }
}
