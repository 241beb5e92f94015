package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.LimitProperties;
import dev.ratelimit.Window;
import dev.ratelimit.support.Micros;
import java.time.Duration;

/**
 * At most {@code maxRequests} in any span as long as the window: exact, at eight bytes per request. A charge counts
 * until a window later, that moment excluded.
 */
public final class SlidingLog extends WindowAlgorithm {

    static final AlgorithmType TYPE = new AlgorithmType("sliding-log", Count.Layout.LOG, SlidingLog::read);

    /** The longest log that is kept in one row. */
    public static final long MOST_REQUESTS = 10_000;

    private final long size;

    public SlidingLog(long maxRequests, Duration window) {
        super(TYPE, maxRequests, MOST_REQUESTS, Window.of(window));
        this.size = Micros.of(window);
    }

    static SlidingLog read(LimitProperties properties) {
        return new SlidingLog(properties.number("max-requests"), properties.time("window"));
    }

    @Override
    public String leaseObstacle() {
        return "a " + name() + " counts each request at its own moment";
    }

    @Override
    public Algorithm share(int instances) {
        return new SlidingLog(Math.max(1, max / instances), window());
    }

    @Override
    public Algorithm times(int factor) {
        return new SlidingLog(Math.min(MOST_REQUESTS, max * factor), window());
    }

    @Override
    Count roll(Count stored, long last, long now) {
        return Count.log(now, size, stored.log().after(now - size));
    }

    @Override
    long availableAt(Count count, long now, long cost) {
        long over = count.log().size() + cost - max;
        return over <= 0 ? now : count.log().get((int) over - 1) + size;
    }

    @Override
    Count charge(Count count, long now, long cost) {
        return Count.log(now, size, count.log().with(now, (int) cost));
    }

    @Override
    Count uncharge(Count count, long now, long cost) {
        return Count.log(now, size, count.log().without(now, cost));
    }

    @Override
    Count settle(Count count, long now, Charge charge, long cost) {
        if (charge.at() <= now - size) {
            return count;
        }
        if (cost <= charge.cost()) {
            return Count.log(now, size, count.log().without(charge.at(), charge.cost() - cost));
        }
        return Count.log(now, size, more(count.log(), charge.at(), cost - charge.cost()));
    }

    /** A log of twice the limit already denies for a whole window: it need not grow further. */
    private Log more(Log log, long moment, long times) {
        long room = Math.max(0, 2 * max - log.size());
        return log.with(moment, (int) Math.min(room, times));
    }

    @Override
    Count add(Count count, Count before, Count after) {
        Log log = count.log();
        for (int i = 0; i < after.log().size(); i++) {
            long moment = after.log().get(i);
            if (i == 0 || moment != after.log().get(i - 1)) {
                int added = after.log().times(moment) - before.log().times(moment);
                log = added >= 0 ? more(log, moment, added) : log.without(moment, -added);
            }
        }
        return Count.log(count.start(), size, log);
    }

    @Override
    Count known(Verdict verdict, long now) {
        return Count.log(now, size, Log.of(now, (int) Math.max(0, max - verdict.remaining())));
    }

    @Override
    long remaining(Count count, long now) {
        return Math.max(0, max - count.log().size());
    }

    @Override
    long resetAt(Count count, long now) {
        return count.log().size() == 0 ? now : count.log().newest() + size;
    }

    /** None: see {@link #leaseObstacle()}. */
    @Override
    long servable(Charge charge, long now) {
        return 0;
    }
}
