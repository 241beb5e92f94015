package dev.ratelimit.data;

import dev.ratelimit.admin.version.Version;
import dev.ratelimit.caller.Account;
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

    /**
     * Another version of a limit is in force: it was changed, or a version expired. Must not throw or block.
     *
     * @param inForce the stored version; {@code null} if the configuration applies again
     */
    default void limitChanged(String name, @Nullable Version<?> inForce) {}

    /**
     * Another version of a rule is in force: it was changed, or a version expired. Must not throw or block.
     *
     * @param inForce the stored version; {@code null} if the configuration applies again
     */
    default void ruleChanged(String name, @Nullable Version<?> inForce) {}

    /** A user was blocked, or the end of the block was changed. Must not throw or block. */
    default void userBlocked(Account account) {}

    /** The block of a user was ended before its time. Must not throw or block. */
    default void userUnblocked(String user) {}
}
