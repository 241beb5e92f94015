package dev.ratelimit.audit;

/**
 * The key of totals within a period.
 *
 * @param limit the name of a limit; empty for whole requests
 * @param subject the text of a subject; empty for all without a row of their own
 * @param endpoint the pattern of a handler; empty if none was reached
 */
record TotalsKey(String limit, String subject, String endpoint) {

    /** The shared row of all other subjects. */
    TotalsKey ofOthers() {
        return subject.isEmpty() ? this : new TotalsKey(limit, "", endpoint);
    }
}
