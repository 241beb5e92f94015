package dev.ratelimit.algorithm;

/**
 * The count of one subject on one limit. Times are microseconds since the epoch.
 *
 * @param start the start of the window that {@code used} is of; for logs and buckets, when it was written
 * @param size the length of the window; for buckets, the units that one permit is
 * @param used the cost charged in the window
 * @param previous the cost charged in the window before
 * @param tokens the level of a bucket in units: tokens, or water in a leaky bucket
 * @param log the moments of a log
 */
public record Count(long start, long size, long used, long previous, long tokens, Log log) {

    /** Nothing was counted yet. */
    public static final Count NONE = new Count(0, 0, 0, 0, 0, Log.EMPTY);

    /** Which of the numbers an algorithm uses. */
    public enum Layout {
        /** {@code start}, {@code used} and {@code previous}. */
        WINDOW,
        /** {@code tokens}. */
        BUCKET,
        /** {@code log}. */
        LOG
    }

    /** No window and no permit has no length. */
    boolean isNone() {
        return size == 0;
    }

    /** Whether it is the count of that window. */
    boolean isWindow(long windowStart, long windowSize) {
        return start == windowStart && size == windowSize;
    }

    static Count window(long start, long size, long used, long previous) {
        return new Count(start, size, used, previous, 0, Log.EMPTY);
    }

    static Count bucket(long at, long unitsPerPermit, long tokens) {
        return new Count(at, unitsPerPermit, 0, 0, tokens, Log.EMPTY);
    }

    static Count log(long at, long size, Log log) {
        return new Count(at, size, 0, 0, 0, log);
    }

    /**
     * The same count on a clock that was set back by that much. The weight of the previous window is added to the
     * current one, since the place in the window changes.
     *
     * @param last when it was written
     */
    Count earlier(long last, long micros) {
        long weight = previous == 0 ? 0 : Exact.ceilingOfProduct(previous, start + size - last, size);
        return new Count(start, size, used + weight, 0, tokens, log.earlier(micros));
    }
}
