package dev.ratelimit.benchmark;

import dev.ratelimit.store.Answer;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.store.LimitStore;
import dev.ratelimit.store.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/** A store whose calls are timed: how much of its time goes into few long ones. */
final class TimedStore extends ForwardingLimitStore {

    /** Much longer than a group takes; on SQLite it is then the copying of the log into the file. */
    private static final long LONG_NANOS = Duration.ofMillis(4).toNanos();

    private final LongAdder nanos = new LongAdder();
    private final LongAdder longCalls = new LongAdder();
    private final LongAdder longNanos = new LongAdder();

    TimedStore(LimitStore store) {
        super(store);
    }

    /** The measurements since the last call. */
    String report() {
        long calls = longCalls.sumThenReset();
        long inLongCalls = longNanos.sumThenReset();
        return String.format(
                Locale.ROOT,
                "%.0f %% of the store's time in calls of more than 4 ms (%d, %.0f ms each)",
                100.0 * inLongCalls / nanos.sumThenReset(),
                calls,
                inLongCalls / 1e6 / Math.max(1, calls));
    }

    @Override
    public List<Answer> decide(List<Operation> group) {
        long begin = System.nanoTime();
        try {
            return super.decide(group);
        } finally {
            long took = System.nanoTime() - begin;
            nanos.add(took);
            if (took > LONG_NANOS) {
                longCalls.increment();
                longNanos.add(took);
            }
        }
    }
}
