package dev.ratelimit.database;

/** The databases for limits, rules, quotas and API keys. */
public enum PolicyStore {
    AUTO,
    SQLITE,
    POSTGRESQL
}
