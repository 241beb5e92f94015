package dev.ratelimit.algorithm;

import dev.ratelimit.Window.Calendar;
import dev.ratelimit.Window.CalendarUnit;
import dev.ratelimit.support.Micros;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;

/**
 * Where the hours, days, weeks and months of the calendar begin.
 *
 * <p>A day begins at midnight; where the clocks skip midnight, when they skip it; where midnight comes twice, with the
 * second. PostgreSQL reads local times in just this way, and both must agree. An hour is one of the wall clock. Where
 * the clocks change by half an hour, as on Lord Howe Island, the change begins an hour that lasts for half of one.
 */
final class CalendarWindows {

    private static final long HOUR = 3600 * Micros.PER_SECOND;

    private CalendarWindows() {}

    static long startOf(Calendar calendar, long now) {
        if (calendar.unit() == CalendarUnit.HOUR) {
            long start = now - sinceWholeHour(calendar, now);
            return start + sinceWholeHour(calendar, start);
        }
        LocalDate today = LocalDate.ofInstant(Micros.toInstant(now), calendar.zone());
        LocalDate first = firstDay(calendar, today);
        long start = startOf(calendar, first);
        return start <= now ? start : startOf(calendar, firstDay(calendar, first.minusDays(1)));
    }

    /** The start of the window after the one that begins there. */
    static long startAfter(Calendar calendar, long start) {
        LocalDate first = Micros.toInstant(start).atZone(calendar.zone()).toLocalDate();
        return switch (calendar.unit()) {
            case HOUR -> start + HOUR - sinceWholeHour(calendar, start);
            case DAY -> startOf(calendar, first.plusDays(1));
            case WEEK -> startOf(calendar, first.plusWeeks(1));
            case MONTH -> startOf(calendar, first.plusMonths(1));
        };
    }

    private static long sinceWholeHour(Calendar calendar, long moment) {
        ZoneOffset offset = calendar.zone().getRules().getOffset(Micros.toInstant(moment));
        return Math.floorMod(moment + offset.getTotalSeconds() * Micros.PER_SECOND, HOUR);
    }

    private static LocalDate firstDay(Calendar calendar, LocalDate day) {
        return switch (calendar.unit()) {
            case WEEK -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
            case MONTH -> day.withDayOfMonth(1);
            default -> day;
        };
    }

    private static long startOf(Calendar calendar, LocalDate day) {
        return Micros.of(
                day.atStartOfDay(calendar.zone()).withLaterOffsetAtOverlap().toInstant());
    }
}
