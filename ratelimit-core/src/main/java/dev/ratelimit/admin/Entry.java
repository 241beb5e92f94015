package dev.ratelimit.admin;

import org.jspecify.annotations.Nullable;

/**
 * A limit or a rule that is in force.
 *
 * @param content what it says; {@code null} for a rule that is disabled
 * @param revision the version that is in force; {@code null} if it comes from the configuration
 */
public record Entry<T>(
        String name, @Nullable T content, @Nullable Revision<T> revision) {

    /** Whether it comes from the database. */
    public boolean isStored() {
        return revision != null;
    }
}
