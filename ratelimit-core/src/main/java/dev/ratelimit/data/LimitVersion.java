package dev.ratelimit.data;

import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/**
 * A version of a limit, as it is stored.
 *
 * @param definition the lines of the definition; {@code null} if what the configuration says applies again
 */
@Table("rate_limit_configs")
public record LimitVersion(
        @Id @Nullable Long id,
        String resource,
        int version,
        @Nullable String definition,
        String changedBy,
        long changedAt,
        long expiresAt,
        @Nullable String reason)
        implements StoredVersion {

    @Override
    public String name() {
        return resource;
    }

    @Override
    public boolean removed() {
        return definition == null;
    }
}
