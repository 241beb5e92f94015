package dev.ratelimit;

/**
 * Receives the record of every request. It runs on the thread of the request and must not block. Exceptions are logged and
 * do not reach the request.
 */
@FunctionalInterface
public interface DecisionListener {

    /** Called once for each request, when its response is complete; and for each decision outside of web requests. */
    void recorded(RequestRecord request);

    /**
     * Called with the answer of a limit on trial: one of a shadow rule, or the candidate of a limit. It runs on a thread of the
     * limiter.
     */
    default void trialDecided(LimitDecision decision) {}
}
