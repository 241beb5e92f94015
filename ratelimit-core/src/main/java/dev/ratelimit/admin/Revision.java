package dev.ratelimit.admin;

import dev.ratelimit.Micros;
import dev.ratelimit.data.StoredVersion;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A version of a limit or a rule that was stored.
 *
 * @param content what it says; {@code null} if it was removed or cannot be right
 * @param expiresAt when the version before it applies again, or {@code null}
 * @param reason why it was stored, or {@code null}
 */
public record Revision<T>(
        String name,
        int version,
        State state,
        @Nullable T content,
        String by,
        Instant at,
        @Nullable Instant expiresAt,
        @Nullable String reason) {

    /** What a version says. */
    public enum State {
        /** Its content applies. */
        SET,
        /** Nothing of that name applies. */
        DISABLED,
        /** What the configuration says applies. */
        REMOVED,
        /** It cannot be right, and is skipped. */
        BROKEN
    }

    static <T> Revision<T> of(StoredVersion row, State state, @Nullable T content) {
        return new Revision<>(
                row.name(),
                row.version(),
                state,
                content,
                row.changedBy(),
                Micros.toInstant(row.changedAt()),
                row.expiresAt() == 0 ? null : Micros.toInstant(row.expiresAt()),
                row.reason());
    }
}
