package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;

/**
 * The arithmetic of one algorithm with its numbers bound. Every method but {@link #roll} takes a state that was rolled
 * to {@code now}.
 */
abstract sealed class Meter
        permits FixedWindowMeter, SlidingWindowMeter, SlidingLogMeter, TokenBucketMeter, LeakyBucketMeter {

    /** The most that a count may reach: room to add to it without overflow. */
    static final long MOST = 1L << 61;

    static Meter of(Algorithm algorithm) {
        if (algorithm instanceof Algorithm.TokenBucket bucket) {
            return new TokenBucketMeter(bucket);
        }
        if (algorithm instanceof Algorithm.FixedWindow window) {
            return new FixedWindowMeter(window);
        }
        if (algorithm instanceof Algorithm.SlidingWindow window) {
            return new SlidingWindowMeter(window);
        }
        if (algorithm instanceof Algorithm.SlidingLog log) {
            return new SlidingLogMeter(log);
        }
        return new LeakyBucketMeter((Algorithm.LeakyBucket) algorithm);
    }

    /** The state as of now, in the numbers of this limit: windows rolled, buckets refilled, nothing charged. */
    abstract State roll(State state, long now);

    /** The first moment, not before now, that has room for the cost if nothing else happens. */
    abstract long availableAt(State state, long now, long cost);

    /** How long an admitted request waits for its turn. */
    long delay(State state) {
        return 0;
    }

    abstract State charge(State state, long now, long cost);

    /** What was charged to this state: the inverse of {@link #charge}. */
    abstract State uncharge(State state, long now, long cost);

    /** The state had the charge been of this cost instead. */
    abstract State settle(State state, long now, Charge charge, long cost);

    /** How many single units would be admitted now. */
    abstract long remaining(State state, long now);

    /** When it is whole again if nothing else happens. */
    abstract long resetAt(State state, long now);
}
