package dev.ratelimit;

/** What happens to a request when no decision can be had: the store fails, or too many are waiting for it. */
public enum FailurePolicy {

    /** The request passes. */
    OPEN,

    /** The request is refused. */
    CLOSED
}
