package dev.ratelimit.data;

import org.jspecify.annotations.Nullable;

/** Is notified when cached decisions of limits may be outdated. */
@FunctionalInterface
public interface ChangeListener {

    /** Does nothing. */
    ChangeListener NONE = subject -> {};

    /**
     * Must not throw.
     *
     * @param subject the text of the subject whose counts were reset; {@code null} if it may be any subject
     */
    void subjectReset(@Nullable String subject);

    /** Limits, rules, quotas or API keys may have changed; no subject was reset. Must not throw. */
    default void policyChanged() {
        subjectReset(null);
    }
}
