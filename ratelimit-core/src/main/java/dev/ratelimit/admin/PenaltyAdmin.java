package dev.ratelimit.admin;

import dev.ratelimit.Micros;
import dev.ratelimit.Subject;
import dev.ratelimit.data.StoredPolicies;
import java.util.List;

/** Lists and ends penalties. */
public final class PenaltyAdmin {

    private final StoredPolicies policies;
    private final Resets resets;

    PenaltyAdmin(StoredPolicies policies, Resets resets) {
        this.policies = policies;
        this.resets = resets;
    }

    /** Those that are not over, the one that lasts longest first. */
    public List<PenaltyEntry> list() {
        long now = Micros.of(policies.clock().instant());
        return policies.database().penalties().findByPenaltyUntilGreaterThanOrderByPenaltyUntilDesc(now).stream()
                .map(row -> new PenaltyEntry(
                        row.userId(),
                        row.resource(),
                        row.violationCount(),
                        Micros.toInstant(row.lastViolationAt()),
                        Micros.toInstant(row.penaltyUntil())))
                .toList();
    }

    /**
     * Ends a penalty and forgets the violations, and with them what the limit has counted for the subject.
     *
     * @return whether it was done; {@code false} if the store failed
     */
    public boolean clear(Subject subject, String limit, String by) {
        return resets.reset(subject, limit, by);
    }
}
