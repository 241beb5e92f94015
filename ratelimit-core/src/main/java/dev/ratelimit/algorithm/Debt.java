package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;

/**
 * Permits that were granted without the store, while it was unavailable. They are charged with the next decision on the
 * subject, are never denied, and never count as a violation.
 *
 * @param limit the limit that granted them
 * @param before the state before the first of them
 * @param after the state after all of them
 */
public record Debt(Limit limit, State before, State after) {}
