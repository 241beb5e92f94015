package dev.ratelimit.algorithm;

import dev.ratelimit.Window;
import dev.ratelimit.support.Micros;

/** Where the windows of a limit begin and end. Thread-safe. */
abstract class WindowBounds {

    static WindowBounds of(Window window) {
        return window instanceof Window.Calendar calendar
                ? new CalendarBounds(calendar)
                : new SpanBounds(Micros.of(window.usualLength()));
    }

    /** The start of the window that the moment is in. */
    abstract long startAt(long moment);

    /** The end of the window that the moment is in: the start of the next. */
    abstract long endAt(long moment);

    private static final class SpanBounds extends WindowBounds {

        private final long size;

        SpanBounds(long size) {
            this.size = size;
        }

        @Override
        long startAt(long moment) {
            return moment - Math.floorMod(moment, size);
        }

        @Override
        long endAt(long moment) {
            return startAt(moment) + size;
        }
    }

    /** Remembers the window that was asked for last: to find one takes longer than the rest of a decision. */
    private static final class CalendarBounds extends WindowBounds {

        private record Span(long start, long end) {}

        private final Window.Calendar calendar;
        private volatile Span last = new Span(0, 0);

        CalendarBounds(Window.Calendar calendar) {
            this.calendar = calendar;
        }

        @Override
        long startAt(long moment) {
            return spanAt(moment).start();
        }

        @Override
        long endAt(long moment) {
            return spanAt(moment).end();
        }

        private Span spanAt(long moment) {
            Span known = last;
            if (moment >= known.start && moment < known.end) {
                return known;
            }
            long start = CalendarWindows.startOf(calendar, moment);
            Span found = new Span(start, CalendarWindows.startAfter(calendar, start));
            last = found;
            return found;
        }
    }
}
