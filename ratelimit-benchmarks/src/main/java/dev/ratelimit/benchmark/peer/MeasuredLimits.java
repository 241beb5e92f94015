package dev.ratelimit.benchmark.peer;

import dev.ratelimit.Limit;
import dev.ratelimit.algorithm.Algorithms;
import java.util.HashMap;
import java.util.Map;

/** The limits that are measured, in the words of the configuration, which change less often than the builder does. */
public final class MeasuredLimits {

    /** Enough that no request is denied. */
    public static final long PLENTY = 20_000_000;

    /** Too slow to refill anything during a run: the store still shows every admitted request. */
    private static final String SLOW = "1/d";

    /** Too long for a run to meet its end often, which would reset the counts that are checked. */
    private static final String LONG = "7d";

    /** More violations than a run has, so that no block ever starts: every denial is counted and goes to the store. */
    private static final String COUNTED_ONLY = "1000000000 -> 1h";

    private MeasuredLimits() {}

    /** A bucket that never denies. */
    public static Limit bucket(String name) {
        return bucket(name, PLENTY);
    }

    public static Limit bucket(String name, long burst) {
        return tokenBucket(name, burst, SLOW, Map.of());
    }

    public static Limit refilledBucket(String name, long burst, String refill) {
        return tokenBucket(name, burst, refill, Map.of());
    }

    public static Limit leasedBucket(String name, int permits) {
        return tokenBucket(name, PLENTY, SLOW, Map.of("lease", Integer.toString(permits)));
    }

    public static Limit bucketWithPenalties(String name) {
        return tokenBucket(name, PLENTY, SLOW, Map.of("penalties", COUNTED_ONLY));
    }

    /** A bucket with the shortest interval that can be written. */
    public static Limit bucketWithMinInterval(String name) {
        return tokenBucket(name, PLENTY, SLOW, Map.of("min-interval", "1us"));
    }

    private static Limit tokenBucket(String name, long burst, String refill, Map<String, String> further) {
        Map<String, String> properties = new HashMap<>(further);
        properties.put("algorithm", "token-bucket");
        properties.put("burst", Long.toString(burst));
        properties.put("refill", refill);
        return Algorithms.limit(name, properties);
    }

    public static Limit leakyBucket(String name) {
        return Algorithms.limit(
                name, Map.of("algorithm", "leaky-bucket", "capacity", Long.toString(PLENTY), "drain", SLOW));
    }

    public static Limit fixedWindow(String name) {
        return window(name, "fixed-window", PLENTY);
    }

    public static Limit slidingWindow(String name) {
        return window(name, "sliding-window", PLENTY);
    }

    public static Limit slidingLog(String name, long maxRequests) {
        return window(name, "sliding-log", maxRequests);
    }

    private static Limit window(String name, String algorithm, long maxRequests) {
        return Algorithms.limit(
                name, Map.of("algorithm", algorithm, "max-requests", Long.toString(maxRequests), "window", LONG));
    }

    /** A month of the calendar: a day would end during one run in a hundred. */
    public static Limit calendarMonth(String name) {
        return Algorithms.limit(
                name,
                Map.of(
                        "algorithm",
                        "fixed-window",
                        "max-requests",
                        Long.toString(PLENTY),
                        "window",
                        "month",
                        "zone",
                        "Europe/Berlin"));
    }
}
