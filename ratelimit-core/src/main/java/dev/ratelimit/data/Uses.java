package dev.ratelimit.data;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts uses of rows, and writes them in batches: no request waits for a write. Safe for use by many threads; one of them
 * writes at a time.
 */
final class Uses {

    private static final int ROWS_IN_ONE_TRANSACTION = 200;

    private final Map<String, Use> byRow = new ConcurrentHashMap<>();

    /** Adds uses to a row. */
    @FunctionalInterface
    interface Writer {
        void write(String row, long count, long lastAt);
    }

    /** The uses of a row that are not written yet. */
    static final class Use {
        private final LongAdder count = new LongAdder();
        private final AtomicLong lastAt = new AtomicLong();
        private final AtomicLong writtenAt = new AtomicLong();

        void add(long uses, long now) {
            if (uses > 0) {
                count.add(uses);
            }
            if (lastAt.get() < now) {
                lastAt.accumulateAndGet(now, Math::max);
            }
        }
    }

    Use of(String row) {
        return byRow.computeIfAbsent(row, absent -> new Use());
    }

    /** Writes the uses that were counted. If that fails, they are kept for the next time. */
    synchronized void write(PolicyDatabase database, Writer writer) {
        Map<String, Long> counted = new TreeMap<>(); // in order, so that instances that write at once never deadlock
        byRow.forEach((row, use) -> {
            long count = use.count.sumThenReset();
            if (count > 0 || use.lastAt.get() > use.writtenAt.get()) {
                counted.put(row, count);
            }
        });
        try {
            while (!counted.isEmpty()) {
                List<String> rows =
                        counted.keySet().stream().limit(ROWS_IN_ONE_TRANSACTION).toList();
                database.inTransaction(() -> {
                    for (String row : rows) {
                        Use use = of(row);
                        long lastAt = use.lastAt.get();
                        writer.write(row, counted.getOrDefault(row, 0L), lastAt);
                        use.writtenAt.set(lastAt);
                    }
                });
                rows.forEach(counted::remove);
            }
        } finally {
            counted.forEach((row, count) -> {
                of(row).count.add(count);
                of(row).writtenAt.set(0);
            });
        }
    }
}
