package dev.ratelimit.monitor;

import org.jspecify.annotations.Nullable;

/**
 * A condition that an operator should look at, as this instance sees it.
 *
 * @param limit the limit it is about, or {@code null}
 * @param rule the rule it is about, or {@code null}
 * @param sentence the condition in plain words, with its numbers. Names in it are harmless in a log, but not escaped for HTML
 */
public record Warning(
        Kind kind, @Nullable String limit, @Nullable String rule, String sentence) {

    /** The conditions, the most urgent first. Each has an alert of the same name in {@code docs/monitoring/alerts.yml}. */
    public enum Kind {
        /** The store does not decide, or not always: the failure policy does. */
        STORE_FAILING,
        /** Requests wait for the store faster than it decides them. */
        QUEUE_FILLING,
        /** The audit trail loses entries or merges them for lack of room, or totals of minutes are lost. */
        AUDIT_DROPPING,
        /** The audit trail or totals cannot be written. They wait in memory, which has room for a while. */
        AUDIT_FAILING,
        /** Totals of minutes cannot be summed up to hours and days. Nothing is lost. */
        TOTALS_FAILING,
        /** A large part of the requests of a rule is denied, to many subjects: the limit may be too tight. */
        USERS_HURT,
        /** One limit denies very many subjects: an attack from many addresses, or a limit that is too tight. */
        MANY_OFFENDERS,
        /** A limit denies many more requests than before. */
        VIOLATION_SURGE,
        /** Many more subjects are under a penalty than before. */
        PENALTIES_RISING,
        /** Old months of the audit trail or of totals, or old archives, cannot be dropped. They fill the disk. */
        RETENTION_FAILING
    }
}
