package dev.ratelimit.audit.retention;

import java.util.Iterator;

/** Rows in the order of {@link AuditRow#BY_KEY}, read as they are needed. For one thread. */
public interface AuditRows extends Iterator<AuditRow>, AutoCloseable {

    /** Releases what they are read from. */
    @Override
    default void close() {}

    /** Opens the same rows again and again. */
    @FunctionalInterface
    interface Source {

        AuditRows open();
    }
}
