package dev.ratelimit.store.postgresql;

/**
 * A key that had no room.
 *
 * @param hash that of the key
 * @param until the first moment with room, absent other traffic
 * @param blocked whether a penalty is the reason
 */
record Denial(int hash, long until, boolean blocked) {}
