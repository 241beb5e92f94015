package dev.ratelimit.policy;

import dev.ratelimit.IpAddress;
import dev.ratelimit.caller.ApiKey;
import dev.ratelimit.caller.Caller;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;

/**
 * The facts of a request that rules are compared with.
 *
 * @param preflight whether it is a CORS preflight; only rules that list {@code OPTIONS} apply to one
 * @param paths the path within the application, in every way that it may be read: mostly one. A rule matches if one of
 *     them does; one that allows, if all do
 * @param address the client's address, or {@code null} if it is not known
 * @param apiKey the key that was recognised, or {@code null}
 * @param caller the sender, or {@code null} before authentication
 * @param expressions whether the expression of a rule is true of the request, asked only when the caller is known;
 *     {@code null} if there is no request to ask
 */
public record RequestFacts(
        String method,
        boolean preflight,
        List<PathContainer> paths,
        @Nullable IpAddress address,
        @Nullable ApiKey apiKey,
        @Nullable Caller caller,
        @Nullable Predicate<Rule> expressions) {

    public RequestFacts {
        paths = List.copyOf(paths);
    }

    /** A request of that method and path, of which nothing else is known. */
    public static RequestFacts of(String method, String path) {
        return new RequestFacts(method, false, List.of(PathContainer.parsePath(path)), null, null, null, rule -> false);
    }

    /** The same, now that it is known who it is. */
    public RequestFacts with(Caller known) {
        return new RequestFacts(method, preflight, paths, address, apiKey, known, expressions);
    }
}
