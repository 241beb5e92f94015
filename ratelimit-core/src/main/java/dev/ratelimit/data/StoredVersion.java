package dev.ratelimit.data;

import org.jspecify.annotations.Nullable;

/** A row of a table of versions. Times are microseconds since the epoch, zero means never. */
public interface StoredVersion {

    /** {@code null} before it is stored. */
    @Nullable
    Long id();

    /** What it is a version of. */
    String name();

    int version();

    /** Whether what the configuration says applies again. */
    boolean removed();

    String changedBy();

    long changedAt();

    long expiresAt();

    @Nullable
    String reason();

    default boolean hasExpired(long now) {
        return expiresAt() != 0 && expiresAt() <= now;
    }
}
