package dev.ratelimit.store.jdbc;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Micros;
import dev.ratelimit.Window;

/** The numbers of an algorithm as the statements take them. */
final class PostgresNumbers {

    private PostgresNumbers() {}

    /** How many units one permit is: one, except in buckets. */
    static long unitsOfOne(Algorithm algorithm) {
        return algorithm instanceof Algorithm.TokenBucket || algorithm instanceof Algorithm.LeakyBucket
                ? size(algorithm)
                : 1;
    }

    /** The length of the window; for buckets, the units of one permit; zero for windows of the calendar. */
    static long size(Algorithm algorithm) {
        if (algorithm instanceof Algorithm.TokenBucket bucket) {
            return Micros.of(bucket.refill().per());
        }
        if (algorithm instanceof Algorithm.LeakyBucket bucket) {
            return Micros.of(bucket.drain().per());
        }
        if (algorithm instanceof Algorithm.SlidingWindow sliding) {
            return Micros.of(sliding.window());
        }
        if (algorithm instanceof Algorithm.SlidingLog sliding) {
            return Micros.of(sliding.window());
        }
        return algorithm instanceof Algorithm.FixedWindow fixed && fixed.window() instanceof Window.Span span
                ? Micros.of(span.length())
                : 0;
    }

    /** For buckets, the units that a microsecond brings or takes; else zero. */
    static long rate(Algorithm algorithm) {
        if (algorithm instanceof Algorithm.TokenBucket bucket) {
            return bucket.refill().permits();
        }
        return algorithm instanceof Algorithm.LeakyBucket bucket
                ? bucket.drain().permits()
                : 0;
    }
}
