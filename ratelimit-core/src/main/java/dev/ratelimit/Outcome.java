package dev.ratelimit;

import dev.ratelimit.support.Keyword;

/** How a decision, or a request as a whole, came out. */
public enum Outcome {

    /** Every limit had room, and the request was charged. */
    ALLOWED,

    /** A limit was used up: a violation. */
    THROTTLED,

    /** The subject is under a penalty; or a rule blocks the request, or the user is blocked. */
    BLOCKED,

    /** Too many requests were waiting, and the failure policy is open or closed. */
    OVERLOADED,

    /** The store failed or missed the deadline, and the failure policy is open or closed. */
    FAILED,

    /** No limit applies to the request. */
    EXEMPT,

    /** The request came with an API key that is not valid. */
    UNKNOWN_API_KEY;

    private final String keyword = Keyword.ofData(this);

    /** As meters, the audit trail and the endpoint write it, such as {@code unknown_api_key}. */
    public String keyword() {
        return keyword;
    }

    /** Whether a limit decided, rather than the failure policy. */
    public boolean isDecided() {
        return this == ALLOWED || this == THROTTLED || this == BLOCKED;
    }
}
