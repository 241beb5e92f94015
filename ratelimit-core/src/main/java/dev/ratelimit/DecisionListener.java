package dev.ratelimit;

import java.time.Duration;

/**
 * Is told of every decision, on the thread of the request: it must not block. What it throws is logged and does not
 * reach the request.
 */
@FunctionalInterface
public interface DecisionListener {

    /**
     * @param took how long the decision took, waiting for its group included
     */
    void decided(LimitRequest request, Decision decision, Duration took);
}
