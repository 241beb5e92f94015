package dev.ratelimit.web;

import dev.ratelimit.Decision;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Writes the answer to a request that may not pass. The headers of the decision are there already. */
@FunctionalInterface
public interface RateLimitRejectionHandler {

    /**
     * @param decision why; {@link dev.ratelimit.Outcome#isDecided()} tells a limit from a failing store
     */
    void reject(HttpServletRequest request, HttpServletResponse response, Decision decision) throws IOException;
}
