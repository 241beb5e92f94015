package dev.ratelimit.gate;

import dev.ratelimit.IpAddress;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.policy.PathReadings;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request as it arrives, before anyone is authenticated.
 *
 * @param preflight whether it is a CORS preflight; only rules that list {@code OPTIONS} apply to one
 * @param address the client's address, or {@code null} if it is not known
 * @param apiKey looks up the API key that the request presents, giving {@code null} if it is not valid; {@code null} itself if
 *     the request presents none
 * @param live the request itself; {@code null} for a described one
 */
public record Arrival(
        String method,
        boolean preflight,
        PathReadings path,
        @Nullable IpAddress address,
        @Nullable Supplier<@Nullable ApiKey> apiKey,
        @Nullable LiveRequest live) {}
