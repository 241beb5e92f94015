package dev.ratelimit.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Set;

/** The authorities of whoever is logged in; known only after authentication. */
@FunctionalInterface
public interface Authorities {

    Set<String> of(HttpServletRequest request);
}
