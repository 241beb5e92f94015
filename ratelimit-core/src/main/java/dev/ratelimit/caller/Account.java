package dev.ratelimit.caller;

import dev.ratelimit.Penalties;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The stored settings of a user.
 *
 * @param user the name of the principal
 * @param tier the tier, or {@code null} for that of the authorities
 * @param quota the user's own numbers, which override those of the tier
 * @param blockedUntil until when all requests of the user are denied, or {@code null}
 * @param blockReason why, for operators; it is not shown to the user
 */
public record Account(
        String user,
        @Nullable String tier,
        Quota quota,
        @Nullable Instant blockedUntil,
        @Nullable String blockReason) {

    /** Whether all requests of the user are denied without an end. */
    public boolean isBlockedForever(Instant now) {
        return blockedUntil != null && Penalties.isForever(Duration.between(now, blockedUntil));
    }

    public boolean isBlocked(Instant now) {
        return blockedUntil(now) != null;
    }

    /** Until when all requests of the user are denied; {@code null} if none are at that moment. */
    public @Nullable Instant blockedUntil(Instant now) {
        return blockedUntil != null && blockedUntil.isAfter(now) ? blockedUntil : null;
    }
}
