package dev.ratelimit.web.servlet;

import dev.ratelimit.Decision;
import dev.ratelimit.Subject;
import dev.ratelimit.caller.Caller;
import jakarta.servlet.http.HttpServletRequest;

/** Tells the caller of a request what remains. A bean for endpoints that show it; nothing is charged. */
public interface CallerLimits {

    /** The caller of the request. */
    Caller caller(HttpServletRequest request);

    /** The subject that the caller counts as: the user, else the owner of the API key, else the address. */
    Subject subject(HttpServletRequest request);

    /** The client's address, or the network of its IPv6 address, as limits by address count it. */
    String client(HttpServletRequest request);

    /** Whether no limit applies to the request. */
    boolean isExempt(HttpServletRequest request);

    /**
     * The decision if the caller of the request sent another one, of that method and path. A blocked caller is shown no limits, and an
     * exempt user only those that count before authentication. Beans and expressions of rules see the request itself, with its own
     * method and path.
     *
     * @param path within the application, such as {@code /api/campaigns}
     * @throws IllegalArgumentException if no request can have that path
     */
    Decision peek(HttpServletRequest request, String method, String path);
}
