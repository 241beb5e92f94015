package dev.ratelimit.store.jdbc;

import org.jspecify.annotations.Nullable;

/** State cannot live in this database: it is of another product, or too old. */
public final class UnsupportedDatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final @Nullable DatabaseProduct outdated;

    public UnsupportedDatabaseException(String message) {
        this(message, null);
    }

    UnsupportedDatabaseException(String message, @Nullable DatabaseProduct outdated) {
        super(message);
        this.outdated = outdated;
    }

    /** The product, if its version is too old; {@code null} if something else is wrong. */
    public @Nullable DatabaseProduct outdated() {
        return outdated;
    }
}
