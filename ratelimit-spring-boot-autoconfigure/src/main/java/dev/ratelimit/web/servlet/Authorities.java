package dev.ratelimit.web.servlet;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Set;

/** Knows the authorities of the user of a request, after authentication. */
@FunctionalInterface
public interface Authorities {

    Set<String> of(HttpServletRequest request);
}
