package dev.ratelimit.database;

/**
 * A place for counts alone, which a module contributes as a bean. Limits and rules that change at run time, and the audit trail,
 * are kept in SQLite or PostgreSQL, or nowhere. Its text names it in log lines, and to operators.
 */
public non-sealed interface CountsDatabase extends StateDatabase {

    /** Whether the application says how to connect to it. Only then it is chosen without being named. */
    boolean isConfigured();
}
