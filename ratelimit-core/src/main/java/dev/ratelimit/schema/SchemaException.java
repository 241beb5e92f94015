package dev.ratelimit.schema;

import org.jspecify.annotations.Nullable;

/** The schema of the database cannot be used: it is newer than the library, or could not be migrated. */
public final class SchemaException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    SchemaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
