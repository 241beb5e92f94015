package dev.ratelimit.monitor;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts per minute, for a little more than an hour. Thread-safe. */
final class MinuteCounts {

    /** An hour, the five minutes after it, and the minute that has begun. */
    private static final int MINUTES = 66;

    private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private record Minute(long number, LongAdder count) {}

    private final AtomicReferenceArray<@Nullable Minute> minutes = new AtomicReferenceArray<>(MINUTES);

    void add(long count, long nanos) {
        long number = Math.floorDiv(nanos, MINUTE_NANOS);
        int place = (int) Math.floorMod(number, (long) MINUTES);
        while (true) {
            Minute minute = minutes.get(place);
            if (minute != null && minute.number == number) {
                minute.count.add(count);
                return;
            }
            minutes.compareAndSet(place, minute, new Minute(number, new LongAdder()));
        }
    }

    /** The count of the minute that has begun and of so many before it. */
    long last(int before, long nanos) {
        return sum(0, before, nanos);
    }

    /**
     * The count of some minutes.
     *
     * @param from how many minutes ago the last of them began
     * @param to how many minutes ago the first of them began
     */
    long sum(int from, int to, long nanos) {
        long now = Math.floorDiv(nanos, MINUTE_NANOS);
        long sum = 0;
        for (int i = 0; i < MINUTES; i++) {
            Minute minute = minutes.get(i);
            if (minute != null && minute.number <= now - from && minute.number >= now - to) {
                sum += minute.count.sum();
            }
        }
        return sum;
    }
}
