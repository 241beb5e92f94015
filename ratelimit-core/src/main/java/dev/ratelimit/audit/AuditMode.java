package dev.ratelimit.audit;

import dev.ratelimit.support.Keyword;

/** Which requests are written to the audit trail. */
public enum AuditMode {
    /** None. */
    OFF,
    /** Those that were rejected, and those that passed since the store did not decide. */
    DENIED,
    /** The denied ones, and a share of the allowed ones. */
    SAMPLED,
    /** All. */
    ALL;

    /** As it is written in properties. */
    public String keyword() {
        return Keyword.of(this);
    }
}
