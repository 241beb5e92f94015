package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.LimitProperties;
import dev.ratelimit.Window;
import dev.ratelimit.setting.Require;
import dev.ratelimit.support.Micros;
import java.time.Duration;

/**
 * As fixed-window, but the previous window still counts, weighted by the share that the last window's length before now
 * overlaps. With {@code e} of the window's length {@code W} gone, {@code n} more have room if
 * {@code previous * (W - e) + (used + n) * W <= max * W}.
 */
public final class SlidingWindow extends WindowAlgorithm {

    static final AlgorithmType TYPE = new AlgorithmType("sliding-window", Count.Layout.WINDOW, SlidingWindow::read);

    private final long size;

    public SlidingWindow(long maxRequests, Duration window) {
        super(TYPE, maxRequests, Require.MOST, Window.of(window));
        this.size = Micros.of(window);
    }

    static SlidingWindow read(LimitProperties properties) {
        return new SlidingWindow(properties.number("max-requests"), properties.time("window"));
    }

    @Override
    public Algorithm share(int instances) {
        return new SlidingWindow(Math.max(1, max / instances), window());
    }

    @Override
    public Algorithm times(int factor) {
        return new SlidingWindow(Math.min(Require.MOST, max * factor), window());
    }

    @Override
    Count roll(Count stored, long last, long now) {
        long start = startAt(now);
        if (stored.isWindow(start, size)) {
            return stored;
        }
        if (last >= start) {
            return Count.window(start, size, stored.used(), stored.previous());
        }
        return Count.window(start, size, 0, last >= start - size ? stored.used() : 0);
    }

    private long startAt(long moment) {
        return moment - Math.floorMod(moment, size);
    }

    @Override
    long availableAt(Count count, long now, long cost) {
        long room = max - count.used() - cost;
        if (room >= 0) {
            return Math.max(now, count.start() + faded(count.previous(), room));
        }
        return count.start() + size + faded(count.used(), max - cost);
    }

    /** How far into a window the one before it has faded to the room that there is. */
    private long faded(long previous, long room) {
        return previous <= room ? 0 : size - Exact.floorOfProduct(room, size, previous);
    }

    @Override
    Count charge(Count count, long now, long cost) {
        return used(count, count.used() + cost, count.previous());
    }

    @Override
    Count uncharge(Count count, long now, long cost) {
        return used(count, count.used() - cost, count.previous());
    }

    @Override
    Count settle(Count count, long now, Charge charge, long cost) {
        long difference = cost - charge.cost();
        if (charge.at() >= count.start()) {
            return used(count, count.used() + difference, count.previous());
        }
        if (charge.at() >= count.start() - size) {
            return used(count, count.used(), count.previous() + difference);
        }
        return count;
    }

    @Override
    Count add(Count count, Count before, Count after) {
        return used(
                count,
                count.used() + after.used() - before.used(),
                count.previous() + after.previous() - before.previous());
    }

    @Override
    Count known(Verdict verdict, long now) {
        return Count.window(startAt(now), size, Math.max(0, max - verdict.remaining()), 0);
    }

    private Count used(Count count, long used, long previous) {
        return Count.window(
                count.start(), size, Math.max(0, Math.min(MOST, used)), Math.max(0, Math.min(MOST, previous)));
    }

    @Override
    long remaining(Count count, long now) {
        long left = size - (now - count.start());
        return Math.max(0, max - count.used() - Exact.ceilingOfProduct(count.previous(), left, size));
    }

    @Override
    long resetAt(Count count, long now) {
        if (count.used() > 0) {
            return count.start() + 2 * size;
        }
        return count.previous() > 0 ? count.start() + size : now;
    }

    @Override
    long servable(Charge charge, long now) {
        return now < startAt(charge.at()) + size ? charge.cost() : 0;
    }
}
