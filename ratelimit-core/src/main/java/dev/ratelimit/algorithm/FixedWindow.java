package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.LimitProperties;
import dev.ratelimit.Window;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.Require;
import java.time.Duration;
import java.time.ZoneId;

/** At most {@code maxRequests} in each window; the count starts anew with the next. */
public final class FixedWindow extends WindowAlgorithm {

    static final AlgorithmType TYPE = new AlgorithmType("fixed-window", Count.Layout.WINDOW, FixedWindow::read);

    private static final String WINDOWS = "write a time such as 1m, or hour, day, week or month";

    private final WindowBounds bounds;

    /** A window that is aligned to the epoch, or to the calendar. */
    public FixedWindow(long maxRequests, Window window) {
        super(TYPE, maxRequests, Require.MOST, window);
        this.bounds = WindowBounds.of(window);
    }

    public FixedWindow(long maxRequests, Duration window) {
        this(maxRequests, Window.of(window));
    }

    /** A window of the calendar in the zone, such as a day in {@code Europe/Berlin}. */
    public FixedWindow(long maxRequests, Window.CalendarUnit window, ZoneId zone) {
        this(maxRequests, Window.of(window, zone));
    }

    static FixedWindow read(LimitProperties properties) {
        return new FixedWindow(properties.number("max-requests"), window(properties));
    }

    private static Window window(LimitProperties properties) {
        String written = properties.text("window", WINDOWS);
        for (Window.CalendarUnit unit : Window.CalendarUnit.values()) {
            if (unit.keyword().equalsIgnoreCase(written)) {
                return Window.of(
                        unit, properties.has("zone") ? Window.zone(properties.text("zone", "")) : ZoneId.of("UTC"));
            }
        }
        if (properties.has("zone")) {
            throw new InvalidLimitException(
                    null,
                    "zone",
                    properties.text("zone", ""),
                    "leave it out, or write hour, day, week or month as the window");
        }
        return Window.of(properties.time("window", WINDOWS));
    }

    /** Whether the windows begin with the epoch or with the calendar. */
    public Window alignment() {
        return window;
    }

    /** The start of the window that the moment is in. */
    public long startAt(long moment) {
        return bounds.startAt(moment);
    }

    /** The start of the window after the one that the moment is in. */
    public long endAt(long moment) {
        return bounds.endAt(moment);
    }

    @Override
    public Algorithm share(int instances) {
        return new FixedWindow(Math.max(1, max / instances), window);
    }

    @Override
    public Algorithm times(int factor) {
        return new FixedWindow(Math.min(Require.MOST, max * factor), window);
    }

    @Override
    public Algorithm unrestricted() {
        return new FixedWindow(Require.MOST, window);
    }

    @Override
    Count roll(Count stored, long last, long now) {
        long start = bounds.startAt(now);
        long size = bounds.endAt(now) - start;
        if (stored.isWindow(start, size) && stored.previous() == 0) {
            return stored;
        }
        return Count.window(start, size, last >= start ? stored.used() : 0, 0);
    }

    @Override
    long availableAt(Count count, long now, long cost) {
        return count.used() <= max - cost ? now : end(count);
    }

    @Override
    Count charge(Count count, long now, long cost) {
        return used(count, count.used() + cost);
    }

    @Override
    Count uncharge(Count count, long now, long cost) {
        return used(count, count.used() - cost);
    }

    @Override
    Count settle(Count count, long now, Charge charge, long cost) {
        return charge.at() < count.start() ? count : used(count, count.used() - charge.cost() + cost);
    }

    @Override
    Count add(Count count, Count before, Count after) {
        return used(count, count.used() + after.used() - before.used());
    }

    @Override
    Count known(Verdict verdict, long now) {
        long start = bounds.startAt(now);
        return Count.window(start, bounds.endAt(now) - start, Math.max(0, max - verdict.remaining()), 0);
    }

    private static Count used(Count count, long used) {
        return Count.window(count.start(), count.size(), Math.max(0, Math.min(MOST, used)), 0);
    }

    @Override
    long remaining(Count count, long now) {
        return Math.max(0, max - count.used());
    }

    @Override
    long resetAt(Count count, long now) {
        return count.used() == 0 ? now : end(count);
    }

    private static long end(Count count) {
        return count.start() + count.size();
    }

    @Override
    long servable(Charge charge, long now) {
        return now < bounds.endAt(charge.at()) ? charge.cost() : 0;
    }
}
