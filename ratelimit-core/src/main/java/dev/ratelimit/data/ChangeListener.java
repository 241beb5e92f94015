package dev.ratelimit.data;

import org.jspecify.annotations.Nullable;

/** Is told that what limits have said may no longer be true, so that nothing that was remembered of it is used. */
@FunctionalInterface
public interface ChangeListener {

    /** Remembers nothing. */
    ChangeListener NONE = subject -> {};

    /**
     * Must not throw.
     *
     * @param subject the text of the subject whose counts were reset; {@code null} if it may be about any subject
     */
    void subjectReset(@Nullable String subject);

    /** Limits, rules, quotas or keys may be others; no subject was reset by that. Must not throw. */
    default void policyChanged() {
        subjectReset(null);
    }
}
