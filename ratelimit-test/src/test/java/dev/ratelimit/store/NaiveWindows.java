package dev.ratelimit.store;

import dev.ratelimit.Window;
import dev.ratelimit.Window.CalendarUnit;
import dev.ratelimit.support.Micros;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneRules;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/** In which fixed window a moment lies. Two moments lie in the same window if it has the same start. */
interface NaiveWindows {

    long startOf(long moment);

    static NaiveWindows of(Window window) {
        if (window instanceof Window.Span span) {
            long size = Micros.of(span.length());
            return moment -> moment / size * size;
        }
        Window.Calendar calendar = (Window.Calendar) window;
        ZoneRules rules = calendar.zone().getRules();
        Map<Long, Long> known = new HashMap<>();
        return moment -> known.computeIfAbsent(
                moment,
                unknown -> Micros.of(
                        calendar.unit() == CalendarUnit.HOUR
                                ? startOfHour(rules, Micros.toInstant(unknown))
                                : startOfDays(calendar.unit(), rules, Micros.toInstant(unknown))));
    }

    /** The whole hour on the wall clock; it is another hour once the clock was changed. */
    private static Instant startOfHour(ZoneRules rules, Instant moment) {
        return moment.atOffset(rules.getOffset(moment))
                .truncatedTo(ChronoUnit.HOURS)
                .toInstant();
    }

    /** Goes back from the day after, day by day, to the first that begins a window and has begun. */
    private static Instant startOfDays(CalendarUnit unit, ZoneRules rules, Instant moment) {
        LocalDate day = LocalDate.ofInstant(moment, rules.getOffset(moment)).plusDays(1);
        while (!begins(unit, day) || midnight(rules, day).isAfter(moment)) {
            day = day.minusDays(1);
        }
        return midnight(rules, day);
    }

    private static boolean begins(CalendarUnit unit, LocalDate day) {
        return switch (unit) {
            case WEEK -> day.getDayOfWeek() == DayOfWeek.MONDAY;
            case MONTH -> day.getDayOfMonth() == 1;
            default -> true;
        };
    }

    /** Where there is no midnight, the moment of the clock change; where there are two, the second. */
    private static Instant midnight(ZoneRules rules, LocalDate day) {
        LocalDateTime local = day.atTime(0, 0);
        return rules.getValidOffsets(local).stream()
                .map((ZoneOffset offset) -> local.toInstant(offset))
                .max(Comparator.naturalOrder())
                .orElseGet(() -> rules.getTransition(local).getInstant());
    }
}
