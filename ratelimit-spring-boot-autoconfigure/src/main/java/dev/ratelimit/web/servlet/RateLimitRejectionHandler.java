package dev.ratelimit.web.servlet;

import dev.ratelimit.gate.Rejection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Writes the answer to a rejected request. The headers of the decision are set already. */
@FunctionalInterface
public interface RateLimitRejectionHandler {

    void reject(HttpServletRequest request, HttpServletResponse response, Rejection rejection) throws IOException;
}
