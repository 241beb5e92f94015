package dev.ratelimit.algorithm;

/**
 * What a store keeps of one subject on one limit: a row of {@code rate_limits}. Times are microseconds since the epoch.
 *
 * @param algorithm the name of the algorithm that wrote it; empty if nothing was written yet
 * @param windowStart the start of the window that {@code count} is of; for logs and buckets, when it was written
 * @param windowSize the length of the window; for buckets, the units that one permit is
 * @param count what was charged in the window
 * @param previous what was charged in the window before
 * @param tokens in units: what is in a token bucket, or the water in a leaky one
 * @param log the moments of a sliding log
 * @param blockedUntil the end of the penalty; in the past or zero if there is none
 * @param last when it was written: the row's own last time, which its clock never goes back behind
 * @param lastAllowed when a request was last allowed, for {@code min-interval}
 * @param expiresAt from when on it says no more than no state at all
 */
public record State(
        String algorithm,
        long windowStart,
        long windowSize,
        long count,
        long previous,
        long tokens,
        Log log,
        long blockedUntil,
        long last,
        long lastAllowed,
        long expiresAt) {

    /** The state of a subject that was never seen. */
    public static final State FRESH = new State("", 0, 0, 0, 0, 0, Log.EMPTY, 0, 0, 0, 0);

    boolean isFresh() {
        return algorithm.isEmpty();
    }

    /** Nothing counted; what does not belong to an algorithm stays. */
    State uncounted() {
        return new State("", 0, 0, 0, 0, 0, Log.EMPTY, blockedUntil, last, lastAllowed, expiresAt);
    }

    State window(String algorithm, long start, long size, long count, long previous) {
        return new State(
                algorithm, start, size, count, previous, 0, Log.EMPTY, blockedUntil, last, lastAllowed, expiresAt);
    }

    State bucket(String algorithm, long at, long unitsPerPermit, long tokens) {
        return new State(
                algorithm, at, unitsPerPermit, 0, 0, tokens, Log.EMPTY, blockedUntil, last, lastAllowed, expiresAt);
    }

    State log(String algorithm, long at, long size, Log log) {
        return new State(algorithm, at, size, 0, 0, 0, log, blockedUntil, last, lastAllowed, expiresAt);
    }

    State allowedAt(long moment) {
        return new State(
                algorithm,
                windowStart,
                windowSize,
                count,
                previous,
                tokens,
                log,
                blockedUntil,
                last,
                moment,
                expiresAt);
    }

    State blockedUntil(long moment) {
        return new State(
                algorithm, windowStart, windowSize, count, previous, tokens, log, moment, last, lastAllowed, expiresAt);
    }

    State written(long at, long expiry) {
        return new State(
                algorithm,
                windowStart,
                windowSize,
                count,
                previous,
                tokens,
                log,
                blockedUntil,
                at,
                lastAllowed,
                expiry);
    }

    /**
     * The same state on a clock that was set back by that much: every age stays what it was, and what a previous window
     * still weighs is counted to the current one, since the place in the window changes.
     */
    State earlier(long micros) {
        long weight = previous == 0 ? 0 : Exact.ceilingOfProduct(previous, windowStart + windowSize - last, windowSize);
        return new State(
                algorithm,
                windowStart,
                windowSize,
                count + weight,
                0,
                tokens,
                log.earlier(micros),
                Math.max(0, blockedUntil - micros),
                last - micros,
                lastAllowed - micros,
                expiresAt);
    }
}
