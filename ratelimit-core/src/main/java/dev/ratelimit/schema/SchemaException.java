package dev.ratelimit.schema;

import org.jspecify.annotations.Nullable;

/** The schema of the database cannot be used. Nothing was changed. */
public final class SchemaException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Why it cannot be used. */
    public enum Reason {
        /** It was migrated by a later version of the library. */
        NEWER,
        /** It must be migrated first, by somebody who may. */
        OLDER,
        /** There are no tables, or not all rights to use them. */
        MISSING,
        /** The database user may not create the schema or its tables. */
        FORBIDDEN,
        /** A table or another object of the application has the name of one of ours. */
        OCCUPIED,
        /** The database has refused it for another reason. */
        FAILED
    }

    private final Reason reason;

    SchemaException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
