package dev.ratelimit.operate;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The block of a user, or of addresses.
 *
 * @param subject what is blocked, such as {@code user:alice}, {@code ip:203.0.113.7} or {@code ip:203.0.113.0/24}
 * @param reason why, or {@code null}
 * @param by the operator, or {@code null} if it is unknown
 * @param until {@code null} if it has no end
 * @param left how long it still lasts, such as {@code 2h}; {@code forever} if it has no end
 */
public record BlockView(
        String subject,
        @Nullable String reason,
        @Nullable String by,
        @Nullable Instant until,
        String left) {}
