package dev.ratelimit.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Writes the answer to a request that may not pass. The headers of the decision are there already. */
@FunctionalInterface
public interface RateLimitRejectionHandler {

    void reject(HttpServletRequest request, HttpServletResponse response, Rejection rejection) throws IOException;
}
