package dev.ratelimit.audit;

/** Which requests are written to the audit trail. */
public enum AuditMode {
    /** None. */
    OFF,
    /** Rejected requests, and requests that passed without a decision of the store. */
    DENIED,
    /** The denied ones, and a share of the allowed ones. */
    SAMPLED,
    /** All. */
    ALL
}
