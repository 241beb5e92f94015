package dev.ratelimit.admin;

import dev.ratelimit.Micros;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Who changes something, for how long and why.
 *
 * <pre>{@code
 * Change.by("ops").until(launchEnds).because("launch day")
 * }</pre>
 *
 * @param expiresAt when what was before applies again, or {@code null}
 */
public record Change(
        String by, @Nullable Instant expiresAt, @Nullable String reason) {

    public Change {
        if (by.isBlank()) {
            throw new IllegalArgumentException("who makes the change is empty; write a name");
        }
    }

    public static Change by(String who) {
        return new Change(who, null, null);
    }

    /** The same change, which expires then. */
    public Change until(Instant moment) {
        return new Change(by, moment, reason);
    }

    public Change because(String why) {
        return new Change(by, expiresAt, why);
    }

    public long expiresAtMicros() {
        return expiresAt == null ? 0 : Micros.of(expiresAt);
    }

    /** Refuses a change that would be over before it begins. */
    void requireLasting(Instant now) {
        if (expiresAt != null && !expiresAt.isAfter(now)) {
            throw new IllegalArgumentException(
                    "the change expires at " + expiresAt + ", and it is " + now + "; write a moment in the future");
        }
    }
}
