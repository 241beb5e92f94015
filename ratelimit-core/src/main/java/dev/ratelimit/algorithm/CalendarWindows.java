package dev.ratelimit.algorithm;

import dev.ratelimit.Micros;
import dev.ratelimit.Window.Calendar;
import dev.ratelimit.Window.CalendarUnit;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.ZonedDateTime;
import java.time.temporal.TemporalAdjusters;

/**
 * Where the hours, days, weeks and months of the calendar begin.
 *
 * <p>A day begins at midnight; where the clocks skip midnight, when they skip it; where midnight comes twice, with the
 * second. PostgreSQL reads local times in just this way, and both must agree.
 */
final class CalendarWindows {

    private static final long HOUR = 3600 * Micros.PER_SECOND;

    private CalendarWindows() {}

    static long startOf(Calendar calendar, long now) {
        ZonedDateTime moment = Micros.toInstant(now).atZone(calendar.zone());
        if (calendar.unit() == CalendarUnit.HOUR) {
            long local = now + moment.getOffset().getTotalSeconds() * Micros.PER_SECOND;
            return now - Math.floorMod(local, HOUR);
        }
        LocalDate first = firstDay(calendar, moment.toLocalDate());
        long start = startOf(calendar, first);
        return start <= now ? start : startOf(calendar, firstDay(calendar, first.minusDays(1)));
    }

    /** The start of the window after the one that begins there. */
    static long startAfter(Calendar calendar, long start) {
        LocalDate first = Micros.toInstant(start).atZone(calendar.zone()).toLocalDate();
        return switch (calendar.unit()) {
            case HOUR -> start + HOUR;
            case DAY -> startOf(calendar, first.plusDays(1));
            case WEEK -> startOf(calendar, first.plusWeeks(1));
            case MONTH -> startOf(calendar, first.plusMonths(1));
        };
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
