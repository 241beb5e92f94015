package dev.ratelimit.web;

import dev.ratelimit.policy.Account;
import dev.ratelimit.policy.Accounts;
import dev.ratelimit.policy.ApiKey;
import dev.ratelimit.policy.Caller;
import dev.ratelimit.policy.Policies;
import dev.ratelimit.policy.Tiers;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** Finds out who a request comes from, once authentication is done. */
public final class Callers {

    private final Policies policies;
    private final Accounts accounts;
    private final Authorities authorities;
    private final InstantSource clock;

    public Callers(Policies policies, Accounts accounts, Authorities authorities, InstantSource clock) {
        this.policies = policies;
        this.accounts = accounts;
        this.authorities = authorities;
        this.clock = clock;
    }

    /** The caller by the tiers that are in force now. */
    public Caller callerOf(HttpServletRequest request) {
        return callerOf(request, policies.current().tiers());
    }

    Caller callerOf(HttpServletRequest request, Tiers tiers) {
        Principal principal = request.getUserPrincipal();
        return tiers.caller(
                principal == null ? null : principal.getName(),
                authorities.of(request),
                ApiKeyGate.keyOf(request),
                accounts);
    }

    /** For how long the user, or the owner of the API key, is still blocked; {@code null} if neither is. */
    @Nullable
    Duration blockOf(HttpServletRequest request) {
        Principal principal = request.getUserPrincipal();
        ApiKey key = ApiKeyGate.keyOf(request);
        Duration ofUser = principal == null ? null : blockOf(principal.getName());
        Duration ofOwner = key == null ? null : blockOf(key.owner());
        return ofUser == null || (ofOwner != null && ofOwner.compareTo(ofUser) > 0) ? ofOwner : ofUser;
    }

    private @Nullable Duration blockOf(String user) {
        Account account = accounts.find(user);
        Instant now = clock.instant();
        return account == null || !account.isBlocked(now) ? null : Duration.between(now, account.blockedUntil());
    }
}
