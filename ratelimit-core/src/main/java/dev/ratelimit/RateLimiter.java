package dev.ratelimit;

/**
 * Decides whether requests may pass. Safe for use by many threads.
 *
 * <p>No method fails because the store does: a decision that cannot be had is made by the failure policy of the
 * request, and says so in its {@link Outcome}. Mistakes of the caller (an unknown limit, a cost that the limit can
 * never grant) are exceptions.
 */
public interface RateLimiter {

    /** Decides, and charges every limit of the request, or none. */
    Decision decide(LimitRequest request);

    /** Decides on the limit of that name. */
    default Decision decide(Subject subject, String limitName) {
        return decide(LimitRequest.of(subject, limitName));
    }

    /** Decides on a limit that is given for this call. */
    default Decision decide(Subject subject, Limit limit) {
        return decide(LimitRequest.of(subject, limit));
    }

    /** What {@link #decide(LimitRequest)} would say now; charges nothing and counts no violation. */
    Decision peek(LimitRequest request);

    /** What {@link #decide(Subject, String)} would say now; charges nothing and counts no violation. */
    default Decision peek(Subject subject, String limitName) {
        return peek(LimitRequest.of(subject, limitName));
    }

    /** Decides and charges now; what it really cost is said later. */
    Reservation reserve(LimitRequest request);

    /** Decides and charges now; what it really cost is said later. */
    default Reservation reserve(Subject subject, String limitName) {
        return reserve(LimitRequest.of(subject, limitName));
    }

    /**
     * Forgets all that the limits of the request know of their subjects: counts, violations and penalties.
     *
     * @return whether it was done; {@code false} if the store failed
     */
    boolean reset(LimitRequest request);

    /** Forgets all that the limit knows of the subject: count, violations and penalty. */
    default boolean reset(Subject subject, String limitName) {
        return reset(LimitRequest.of(subject, limitName));
    }
}
