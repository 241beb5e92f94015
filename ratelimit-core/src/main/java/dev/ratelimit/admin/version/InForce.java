package dev.ratelimit.admin.version;

import org.jspecify.annotations.Nullable;

/**
 * A limit or a rule that is in force.
 *
 * @param content the definition of the limit, or the rule; {@code null} for a disabled rule
 * @param version the stored version that is in force; {@code null} if it comes from the configuration
 */
public record InForce<T>(
        String name, @Nullable T content, @Nullable Version<T> version) {

    /** Whether it comes from the database. */
    public boolean isStored() {
        return version != null;
    }
}
