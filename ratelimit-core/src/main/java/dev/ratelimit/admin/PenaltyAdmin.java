package dev.ratelimit.admin;

import dev.ratelimit.Penalties;
import dev.ratelimit.Subject;
import dev.ratelimit.admin.version.Change;
import dev.ratelimit.support.JsonText;
import dev.ratelimit.support.LogText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lists and ends penalties. */
public final class PenaltyAdmin {

    /**
     * A penalty that is not over.
     *
     * @param subject the text of the subject, see {@link dev.ratelimit.Subject#ofText}
     * @param violations the number of violations that are remembered
     * @param metadata the notes of operators, a JSON object, or {@code null}
     */
    public record Penalty(
            String subject,
            String limit,
            long violations,
            Instant lastViolationAt,
            Instant until,
            @Nullable String metadata) {

        /** Whether it has no end. */
        public boolean isForever() {
            return Penalties.isForever(Duration.between(lastViolationAt, until));
        }
    }

    private static final Logger log = LoggerFactory.getLogger(PenaltyAdmin.class);

    private final PolicyStorage storage;
    private final Resets resets;

    PenaltyAdmin(PolicyStorage storage, Resets resets) {
        this.storage = storage;
        this.resets = resets;
    }

    /**
     * All penalties that are not over, the longest first.
     *
     * @throws IllegalStateException if they {@linkplain SubjectAdmin#listsCounts() cannot be listed}
     */
    public List<Penalty> list() {
        return storage.penalties(Integer.MAX_VALUE);
    }

    /** The same, at most so many. */
    public List<Penalty> list(int most) {
        SubjectAdmin.requireMost(most);
        return storage.penalties(most);
    }

    /**
     * The number of penalties that are not over.
     *
     * @throws IllegalStateException if they {@linkplain SubjectAdmin#listsCounts() cannot be listed}
     */
    public long count() {
        return storage.activePenalties().values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    /**
     * Replaces the notes on the violations of a subject, such as the number of a ticket. They are kept until the violations
     * are forgotten.
     *
     * @return {@code false} if no violations are remembered
     * @throws IllegalStateException if penalties {@linkplain SubjectAdmin#listsCounts() cannot be listed}
     */
    public boolean note(Subject subject, String limit, Map<String, String> notes, Change change) {
        change.requireNoExpiry("a note on violations");
        String metadata = JsonText.object(notes);
        boolean found = storage.change(transaction -> {
            boolean noted = transaction.notePenalty(subject, limit, metadata);
            if (noted) {
                transaction.log(
                        new ChangeLog.Target("note", ChangeLog.Kind.SUBJECT, subject.text()),
                        change,
                        null,
                        JsonText.object(Map.of("limit", limit, "notes", metadata)));
            }
            return noted;
        });
        if (found) {
            log.info(
                    "Noted {} on the violations of {} on limit {}, by {}",
                    LogText.of(metadata),
                    LogText.of(subject),
                    LogText.of(limit),
                    LogText.of(change.by()));
        }
        return found;
    }

    /**
     * Ends a penalty and forgets the violations, and the count of the limit with them.
     *
     * @return whether it succeeded; {@code false} if the store failed
     */
    public boolean clear(Subject subject, String limit, Change change) {
        return resets.reset(subject, limit, "clear-penalty", change);
    }
}
