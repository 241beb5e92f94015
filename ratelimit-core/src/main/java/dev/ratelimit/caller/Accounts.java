package dev.ratelimit.caller;

import org.jspecify.annotations.Nullable;

/** Knows users' own tiers, quotas and blocks. Answers from memory: it never waits for a database. */
@FunctionalInterface
public interface Accounts {

    /** Knows no accounts. */
    Accounts NONE = user -> null;

    @Nullable
    Account find(String user);
}
