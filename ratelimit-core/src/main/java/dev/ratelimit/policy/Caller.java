package dev.ratelimit.policy;

import dev.ratelimit.Limit;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who a request comes from, as known after authentication.
 *
 * @param user the principal, else the owner of the API key, or {@code null} for nobody
 * @param tier the caller's tier
 * @param authorities what was granted
 * @param quota the limits of the caller's quota
 * @param quotaOfApiKey whether these are of the API key alone, and not of the user
 * @param account what is known of the user, or {@code null}
 */
public record Caller(
        @Nullable String user,
        String tier,
        Set<String> authorities,
        List<Limit> quota,
        boolean quotaOfApiKey,
        @Nullable Account account) {

    public Caller {
        authorities = Set.copyOf(authorities);
        quota = List.copyOf(quota);
    }
}
