package dev.ratelimit.operate;

import dev.ratelimit.admin.version.Version;
import dev.ratelimit.operate.VersionView.Authorship;
import org.jspecify.annotations.Nullable;

/**
 * Where a value comes from.
 *
 * @param from {@code configuration} or {@code database}
 * @param limit the limit that it is inherited from, or {@code null} if it is the limit's own
 * @param version the stored version; {@code null} for the configuration
 * @param change the author of that version; {@code null} for the configuration
 */
public record Source(
        String from,
        @Nullable String limit,
        @Nullable Integer version,
        @Nullable Authorship change) {

    static final Source CONFIGURATION = new Source("configuration", null, null, null);

    static Source of(@Nullable Version<?> version) {
        return version == null ? CONFIGURATION : new Source("database", null, version.number(), Authorship.of(version));
    }

    Source inheritedFrom(String base) {
        return new Source(from, base, version, change);
    }
}
