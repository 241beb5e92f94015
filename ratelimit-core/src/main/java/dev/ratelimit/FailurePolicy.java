package dev.ratelimit;

/** The treatment of a request when the store is unavailable: it fails, misses the deadline, or too many are waiting for it. */
public enum FailurePolicy {

    /** This instance decides on its own, by the same limits, and charges the store when it is back. */
    LOCAL,

    /** The request passes. */
    OPEN,

    /** The request is rejected. */
    CLOSED;

    /** The stricter of two that apply to one request. */
    public FailurePolicy and(FailurePolicy other) {
        if (this == CLOSED || other == CLOSED) {
            return CLOSED;
        }
        return this == LOCAL || other == LOCAL ? LOCAL : OPEN;
    }
}
