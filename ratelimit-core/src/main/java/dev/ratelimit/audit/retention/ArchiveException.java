package dev.ratelimit.audit.retention;

import org.jspecify.annotations.Nullable;

/** An archive that cannot be trusted, read or written. Its month stays in the database. The message says what to do. */
public final class ArchiveException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ArchiveException(String message) {
        super(message);
    }

    public ArchiveException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
