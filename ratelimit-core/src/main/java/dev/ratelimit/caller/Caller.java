package dev.ratelimit.caller;

import dev.ratelimit.Limit;
import dev.ratelimit.Subject;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The sender of a request, as known after authentication.
 *
 * @param user the principal, else the owner of the API key, or {@code null} for nobody
 * @param choice the caller's tier, and where it comes from
 * @param authorities those of the user
 * @param quota the limits of the caller's quota
 * @param apiKey the API key of the request, or {@code null}
 * @param account the stored settings of the user, or {@code null}
 */
public record Caller(
        @Nullable String user,
        TierChoice choice,
        Set<String> authorities,
        List<Limit> quota,
        @Nullable ApiKey apiKey,
        @Nullable Account account) {

    public Caller {
        authorities = Set.copyOf(authorities);
        quota = List.copyOf(quota);
    }

    public String tier() {
        return choice.tier();
    }

    /**
     * The subject that the quota counts for, whatever else a rule counts by: the API key if it has a quota of its own, else
     * the user, else the address.
     *
     * @param address the subject of the client's address, or {@code null} if that is not known
     */
    public @Nullable Subject quotaSubject(@Nullable Subject address) {
        if (apiKey != null && !apiKey.quota().isNone()) {
            return apiKey.subject();
        }
        return user != null ? Subject.user(user) : address;
    }
}
