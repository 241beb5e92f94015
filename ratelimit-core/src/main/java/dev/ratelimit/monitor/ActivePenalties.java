package dev.ratelimit.monitor;

import dev.ratelimit.support.LogText;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The number of active penalties by limit, as it was last read, and how many there were an hour ago. Thread-safe. */
final class ActivePenalties {

    private static final Logger log = LoggerFactory.getLogger(ActivePenalties.class);

    private static final int MINUTES = 61;

    private final Supplier<Map<String, Long>> storage;
    private final long intervalNanos;

    /** The totals of the last hour, by minute; -1 if it is not known. */
    private final long[] totals = new long[MINUTES];

    private final long[] minutes = new long[MINUTES];
    private long readAt;
    private boolean read;
    private volatile Map<String, Long> byLimit = Map.of();

    /**
     * @param storage counts them by limit; may fail
     */
    ActivePenalties(Supplier<Map<String, Long>> storage, long intervalNanos) {
        this.storage = storage;
        this.intervalNanos = intervalNanos;
        Arrays.fill(minutes, Long.MIN_VALUE);
    }

    Map<String, Long> byLimit() {
        return byLimit;
    }

    /** Reads them if the interval has passed. If that fails, the last numbers are kept. */
    void readIfDue(long nanos) {
        if (!begins(nanos)) {
            return;
        }
        try {
            // Without the lock: the database may be silent, and warnings read the last numbers meanwhile.
            keep(Map.copyOf(storage.get()), nanos);
        } catch (RuntimeException e) {
            log.debug("Could not count active penalties: {}", LogText.of(e.getMessage()));
        }
    }

    private synchronized boolean begins(long nanos) {
        if (read && nanos - readAt < intervalNanos) {
            return false;
        }
        read = true;
        readAt = nanos;
        return true;
    }

    private synchronized void keep(Map<String, Long> counted, long nanos) {
        byLimit = counted;
        long minute = Math.floorDiv(nanos, TimeUnit.MINUTES.toNanos(1));
        int place = (int) Math.floorMod(minute, (long) MINUTES);
        minutes[place] = minute;
        totals[place] = total();
    }

    long total() {
        return byLimit.values().stream().mapToLong(Long::longValue).sum();
    }

    /** The oldest total of the last hour: an hour ago, or when this instance started. */
    synchronized long anHourAgo(long nanos) {
        long now = Math.floorDiv(nanos, TimeUnit.MINUTES.toNanos(1));
        long oldest = Long.MAX_VALUE;
        long total = total();
        for (int i = 0; i < MINUTES; i++) {
            if (minutes[i] > now - MINUTES && minutes[i] < oldest && minutes[i] <= now) {
                oldest = minutes[i];
                total = totals[i];
            }
        }
        return total;
    }
}
