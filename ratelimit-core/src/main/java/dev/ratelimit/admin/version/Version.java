package dev.ratelimit.admin.version;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stored version of a limit or a rule.
 *
 * @param number counts the versions of the name from 1 on
 * @param content the definition of the limit, or the rule; {@code null} if the version has none that can be read
 * @param problem why the version is {@linkplain State#BROKEN broken}; {@code null} in any other state
 * @param change the author, the expiry and the reason
 * @param at when it was stored
 * @param sequence ascends in the order in which the versions of all names were stored; {@link #NOT_STORED} before that
 */
public record Version<T>(
        String name,
        int number,
        State state,
        @Nullable T content,
        @Nullable String problem,
        Change change,
        Instant at,
        long sequence) {

    /** The sequence of a version that is not stored yet: it is newer than all stored ones. */
    public static final long NOT_STORED = Long.MAX_VALUE;

    /** The effect of a version. */
    public enum State {
        /** Its content applies. */
        SET,
        /** Nothing of that name applies. */
        DISABLED,
        /** The configuration applies again. */
        REMOVED,
        /** It is invalid and skipped. */
        BROKEN
    }

    /** The author of the version. */
    public String by() {
        return change.by();
    }

    /** When the version before it applies again, or {@code null}. */
    public @Nullable Instant expiresAt() {
        return change.expiresAt();
    }

    /** Why it was stored, or {@code null}. */
    public @Nullable String reason() {
        return change.reason();
    }

    boolean hasExpired(Instant now) {
        Instant expiresAt = expiresAt();
        return expiresAt != null && !expiresAt.isAfter(now);
    }

    /**
     * Drafts the version that follows a history.
     *
     * @throws IllegalArgumentException if the change would expire at once
     */
    public static <T> Version<T> draft(
            String name, List<Version<T>> history, State state, @Nullable T content, Change change, Instant now) {
        change.requireLasting(now);
        int number = history.isEmpty() ? 1 : history.get(0).number + 1;
        return new Version<>(name, number, state, content, null, change, now, NOT_STORED);
    }

    /**
     * Finds a version by its number.
     *
     * @param kind limit or rule, for the message
     * @throws IllegalArgumentException if there is no such version
     */
    public static <T> Version<T> find(List<Version<T>> history, String kind, String name, int number) {
        for (Version<T> version : history) {
            if (version.number == number) {
                return version;
            }
        }
        throw new IllegalArgumentException(kind + " '" + name + "' has no version " + number
                + (history.isEmpty()
                        ? ", and no other: it was never changed"
                        : "; name one of "
                                + history.stream().map(Version::number).sorted().toList()));
    }
}
