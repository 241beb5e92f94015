package dev.ratelimit.policy;

import dev.ratelimit.IpAddress;
import dev.ratelimit.caller.ApiKey;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The conditions under which a rule matches a request. An empty one holds for every request.
 *
 * @param path a pattern such as {@code /api/**}
 * @param methods the methods of HTTP, in upper case; {@code GET} covers {@code HEAD}
 * @param addresses the client's address lies in one of these ranges
 * @param tiers the caller is of one of these tiers
 * @param authorities the caller has one of these authorities
 * @param apiKeys the request came with one of these API keys, by id or name; {@code *} for any
 * @param expression an expression over the request, as written, or {@code null}; never from stored data
 */
public record Conditions(
        String path,
        Set<String> methods,
        List<AddressRange> addresses,
        Set<String> tiers,
        Set<String> authorities,
        Set<String> apiKeys,
        @Nullable String expression) {

    public static final String ANY_PATH = "/**";
    public static final String ANY_API_KEY = "*";

    public Conditions {
        methods = Set.copyOf(methods);
        addresses = List.copyOf(addresses);
        tiers = Set.copyOf(tiers);
        authorities = Set.copyOf(authorities);
        apiKeys = Set.copyOf(apiKeys);
    }

    /** Whether it takes authentication to know if they are true. */
    boolean needCaller() {
        return !tiers.isEmpty() || !authorities.isEmpty() || expression != null;
    }

    boolean methodMatches(String method, boolean preflight) {
        return (methods.isEmpty() && !preflight)
                || methods.contains(method)
                || (method.equals("HEAD") && methods.contains("GET"));
    }

    boolean addressMatches(@Nullable IpAddress address) {
        return addresses.isEmpty() || (address != null && AddressRange.anyContains(addresses, address));
    }

    boolean apiKeyMatches(@Nullable ApiKey key) {
        return apiKeys.isEmpty()
                || (key != null
                        && (apiKeys.contains(ANY_API_KEY)
                                || apiKeys.contains(key.id())
                                || apiKeys.contains(key.name())));
    }

    boolean tierMatches(String tier) {
        return tiers.isEmpty() || tiers.contains(tier);
    }

    boolean authorityMatches(Set<String> granted) {
        if (authorities.isEmpty()) {
            return true;
        }
        for (String authority : authorities) {
            if (granted.contains(authority)) {
                return true;
            }
        }
        return false;
    }
}
