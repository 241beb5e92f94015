package dev.ratelimit.autoconfigure;

/**
 * The clock that the store, the policies and the web share, if the application has a bean of this name; else each store
 * has its own. It is found by its name, not its type: many applications have a {@link java.time.Clock} for other purposes,
 * and on PostgreSQL the clock of the database is the better one.
 */
final class RateLimitClocks {

    static final String BEAN = "rateLimitClock";

    private RateLimitClocks() {}
}
