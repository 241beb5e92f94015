package dev.ratelimit.admin.version;

import dev.ratelimit.support.JsonText;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The author of a change, its expiry, its reason and further notes.
 *
 * <pre>{@code
 * Change.by("ops").until(launchEnds).because("launch day")
 * }</pre>
 *
 * @param expiresAt when the version before it applies again, or {@code null}
 * @param metadata the notes of the operator, a JSON object, or {@code null}
 */
public record Change(
        String by,
        @Nullable Instant expiresAt,
        @Nullable String reason,
        @Nullable String metadata) {

    public Change {
        if (by.isBlank()) {
            throw new IllegalArgumentException("the author of the change is empty; write a name");
        }
    }

    public static Change by(String author) {
        return new Change(author, null, null, null);
    }

    /** The same change with an expiry. */
    public Change until(Instant moment) {
        return new Change(by, moment, reason, metadata);
    }

    /** The same change, which ends at that moment at the latest. */
    public Change endingBy(@Nullable Instant moment) {
        return moment == null || (expiresAt != null && expiresAt.isBefore(moment)) ? this : until(moment);
    }

    /** The same change with a reason. */
    public Change because(String why) {
        return new Change(by, expiresAt, why, metadata);
    }

    /** The same change with notes, such as the number of a ticket. */
    public Change noting(Map<String, String> notes) {
        return new Change(by, expiresAt, reason, JsonText.object(notes));
    }

    /** Refuses an expiry of a change that cannot expire. */
    public void requireNoExpiry(String what) {
        if (expiresAt != null) {
            throw new IllegalArgumentException(
                    what + " does not expire, but the change has the expiry " + expiresAt + "; leave out until");
        }
    }

    /** Refuses a change that expires at once. */
    void requireLasting(Instant now) {
        if (expiresAt != null && !expiresAt.isAfter(now)) {
            throw new IllegalArgumentException(
                    "the change expires at " + expiresAt + ", and it is " + now + "; write a moment in the future");
        }
    }
}
