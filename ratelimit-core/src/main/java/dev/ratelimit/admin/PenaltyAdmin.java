package dev.ratelimit.admin;

import dev.ratelimit.Subject;
import java.time.Instant;
import java.util.List;

/** Lists and ends penalties. */
public final class PenaltyAdmin {

    /**
     * A penalty that is not over.
     *
     * @param subject the text of the subject, see {@link dev.ratelimit.Subject#ofText}
     * @param violations the number of violations that are remembered
     */
    public record Penalty(String subject, String limit, long violations, Instant lastViolationAt, Instant until) {}

    private final PolicyStorage storage;
    private final Resets resets;

    PenaltyAdmin(PolicyStorage storage, Resets resets) {
        this.storage = storage;
        this.resets = resets;
    }

    /** All penalties that are not over, the longest first. */
    public List<Penalty> list() {
        return storage.penalties();
    }

    /**
     * Ends a penalty and forgets the violations, and the count of the limit with them.
     *
     * @return whether it succeeded; {@code false} if the store failed
     */
    public boolean clear(Subject subject, String limit, String by) {
        return resets.reset(subject, limit, by);
    }
}
