package dev.ratelimit.audit.report;

import dev.ratelimit.Outcome;
import dev.ratelimit.RequestRecord;
import dev.ratelimit.support.Keyword;
import java.util.Locale;

/** How a request came out, as the audit trail says it. */
public enum AuditDecision {
    ALLOWED,
    /** A limit was used up. */
    THROTTLED,
    /** By a rule, an account or a penalty. */
    BLOCKED,
    EXEMPT,
    UNKNOWN_API_KEY,
    /** The store did not decide, and the request passed. */
    FAILED_OPEN,
    /** The store did not decide, and the request was rejected. */
    FAILED_CLOSED;

    public static AuditDecision of(RequestRecord request) {
        return of(request.outcome(), request.allowed());
    }

    public static AuditDecision of(Outcome outcome, boolean allowed) {
        return switch (outcome) {
            case ALLOWED -> ALLOWED;
            case THROTTLED -> THROTTLED;
            case BLOCKED -> BLOCKED;
            case EXEMPT -> EXEMPT;
            case UNKNOWN_API_KEY -> UNKNOWN_API_KEY;
            case OVERLOADED, FAILED -> allowed ? FAILED_OPEN : FAILED_CLOSED;
        };
    }

    /** Whether the request was rejected, or passed without being counted: such requests are always of interest. */
    public boolean isNoteworthy() {
        return this != ALLOWED && this != EXEMPT;
    }

    /** As it is stored. */
    public String keyword() {
        return Keyword.ofData(this);
    }

    /** The decision that is stored as this keyword. */
    public static AuditDecision ofKeyword(String keyword) {
        return valueOf(keyword.toUpperCase(Locale.ROOT));
    }
}
