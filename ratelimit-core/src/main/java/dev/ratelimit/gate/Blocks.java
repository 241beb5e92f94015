package dev.ratelimit.gate;

import dev.ratelimit.caller.Account;
import dev.ratelimit.caller.Accounts;
import dev.ratelimit.caller.ApiKey;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** Knows whether a user is blocked, or the owner of an API key. */
final class Blocks {

    private final Accounts accounts;
    private final InstantSource clock;

    Blocks(Accounts accounts, InstantSource clock) {
        this.accounts = accounts;
        this.clock = clock;
    }

    /** Until when requests of the user, or with the key, are rejected; {@code null} if they are not. */
    @Nullable
    Instant blockedUntil(@Nullable String user, @Nullable ApiKey key) {
        Instant ofUser = user == null ? null : blockedUntil(user);
        Instant ofOwner = key == null || key.owner().equals(user) ? null : blockedUntil(key.owner());
        return ofUser == null || (ofOwner != null && ofOwner.isAfter(ofUser)) ? ofOwner : ofUser;
    }

    private @Nullable Instant blockedUntil(String user) {
        Account account = accounts.find(user);
        return account == null ? null : account.blockedUntil(clock.instant());
    }
}
