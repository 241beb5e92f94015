package dev.ratelimit.algorithm;

/**
 * What a reservation must remember to be settled exactly.
 *
 * @param at when it was charged
 * @param cost how much
 * @param tokens what a bucket held right after it, in units; zero for other algorithms
 */
public record Charge(long at, long cost, long tokens) {}
