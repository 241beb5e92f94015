package dev.ratelimit.operate;

import dev.ratelimit.admin.PenaltyAdmin;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A penalty that is not over.
 *
 * @param until {@code null} if it has no end
 * @param left how long it still lasts, such as {@code 12m}; {@code forever} if it has no end
 * @param notes those of operators, a JSON object, or {@code null}
 */
public record PenaltyView(
        String subject,
        String limit,
        long violations,
        Instant lastViolationAt,
        @Nullable Instant until,
        String left,
        @Nullable String notes) {

    static PenaltyView of(PenaltyAdmin.Penalty penalty, Instant now) {
        return new PenaltyView(
                penalty.subject(),
                penalty.limit(),
                penalty.violations(),
                penalty.lastViolationAt(),
                Times.endOrNull(now, penalty.until()),
                Times.left(now, penalty.until()),
                penalty.metadata());
    }
}
