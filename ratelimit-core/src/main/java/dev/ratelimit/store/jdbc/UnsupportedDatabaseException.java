package dev.ratelimit.store.jdbc;

/** State cannot live in this database: it is of another product, or too old. */
public final class UnsupportedDatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UnsupportedDatabaseException(String message) {
        super(message);
    }
}
