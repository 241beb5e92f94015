package dev.ratelimit.admin;

import dev.ratelimit.IpAddress;
import dev.ratelimit.policy.PathReadings;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A described request, to be explained.
 *
 * <pre>{@code
 * Inquiry.of("GET", "/api/games").from("203.0.113.7").user("alice")
 * }</pre>
 *
 * @param path within the application
 * @param address the client's, or {@code null}
 * @param user the name of the user, or {@code null} for nobody
 * @param authorities those of the user
 * @param apiKey the id of the API key that it comes with, or {@code null}
 */
public record Inquiry(
        String method,
        String path,
        @Nullable String address,
        @Nullable String user,
        Set<String> authorities,
        @Nullable String apiKey) {

    public Inquiry {
        method = method.strip().toUpperCase(Locale.ROOT);
        authorities = Set.copyOf(authorities);
        PathReadings unused = PathReadings.of(path);
        if (address != null && IpAddress.parse(address) == null) {
            throw new IllegalArgumentException(
                    "the address is '" + address + "'; write one such as 203.0.113.7 or 2001:db8::7");
        }
    }

    public static Inquiry of(String method, String path) {
        return new Inquiry(method, path, null, null, Set.of(), null);
    }

    public Inquiry from(String clientAddress) {
        return new Inquiry(method, path, clientAddress, user, authorities, apiKey);
    }

    public Inquiry user(String name) {
        return new Inquiry(method, path, address, name, authorities, apiKey);
    }

    public Inquiry authorities(String... granted) {
        return new Inquiry(method, path, address, user, Set.of(granted), apiKey);
    }

    public Inquiry apiKey(String id) {
        return new Inquiry(method, path, address, user, authorities, id);
    }
}
