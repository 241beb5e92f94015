package dev.ratelimit.operate;

import dev.ratelimit.admin.version.Version;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The author of a change.
 *
 * @param until when it expires, or {@code null}
 * @param reason {@code null} if none was given
 */
public record Authorship(
        String by,
        Instant at,
        @Nullable Instant until,
        @Nullable String reason) {

    static Authorship of(Version<?> version) {
        return new Authorship(version.by(), version.at(), version.expiresAt(), version.reason());
    }
}
