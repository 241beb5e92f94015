package dev.ratelimit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

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

    /**
     * Is told what a limit said that is only tried: a limit of a rule in shadow, or the candidate of a limit. On a
     * thread of the limiter's.
     *
     * @param rule the name of the rule that brought the limit in, or {@code null}
     */
    default void tried(LimitDecision decision, @Nullable String rule) {}
}
