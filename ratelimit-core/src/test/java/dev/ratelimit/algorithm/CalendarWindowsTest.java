package dev.ratelimit.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Window.Calendar;
import dev.ratelimit.Window.CalendarUnit;
import dev.ratelimit.support.Micros;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalendarWindowsTest {

    /** Each line: unit, zone, a moment, and the start and the end of its window. */
    @ParameterizedTest
    @CsvSource({
        // Ordinary ones; a week begins on Monday.
        "HOUR,  UTC,              2026-03-02T10:59:59.999999Z, 2026-03-02T10:00Z,          2026-03-02T11:00Z",
        "HOUR,  Asia/Kolkata,     2026-03-02T10:29:59+05:30,   2026-03-02T10:00+05:30,     2026-03-02T11:00+05:30",
        "DAY,   Asia/Kolkata,     2026-03-02T00:00+05:30,      2026-03-02T00:00+05:30,     2026-03-03T00:00+05:30",
        "WEEK,  UTC,              2026-03-01T23:59:59.999999Z, 2026-02-23T00:00Z,          2026-03-02T00:00Z",
        "WEEK,  UTC,              2026-03-02T00:00Z,           2026-03-02T00:00Z,          2026-03-09T00:00Z",
        "WEEK,  UTC,              2026-01-01T12:00Z,           2025-12-29T00:00Z,          2026-01-05T00:00Z",
        "MONTH, UTC,              2024-02-29T23:59Z,           2024-02-01T00:00Z,          2024-03-01T00:00Z",
        "MONTH, America/New_York, 2026-12-31T23:59-05:00,      2026-12-01T00:00-05:00,     2027-01-01T00:00-05:00",
        // A day of a clock change has 23 or 25 hours, and the hour that comes twice is two hours.
        "DAY,   Europe/Berlin,    2026-03-29T12:00+02:00,      2026-03-29T00:00+01:00,     2026-03-30T00:00+02:00",
        "DAY,   Europe/Berlin,    2026-10-25T12:00+01:00,      2026-10-25T00:00+02:00,     2026-10-26T00:00+01:00",
        "HOUR,  Europe/Berlin,    2026-03-29T01:59+01:00,      2026-03-29T01:00+01:00,     2026-03-29T03:00+02:00",
        "HOUR,  Europe/Berlin,    2026-10-25T02:30+02:00,      2026-10-25T02:00+02:00,     2026-10-25T02:00+01:00",
        "HOUR,  Europe/Berlin,    2026-10-25T02:30+01:00,      2026-10-25T02:00+01:00,     2026-10-25T03:00+01:00",
        "MONTH, Europe/Berlin,    2026-10-31T23:30+01:00,      2026-10-01T00:00+02:00,     2026-11-01T00:00+01:00",
        // Midnight is skipped: the day begins with the change.
        "DAY,   America/Havana,   2026-03-08T01:00-04:00,      2026-03-08T01:00-04:00,     2026-03-09T00:00-04:00",
        "DAY,   America/Havana,   2026-03-07T23:59-05:00,      2026-03-07T00:00-05:00,     2026-03-08T01:00-04:00",
        "DAY,   Africa/Cairo,     2026-04-24T01:30+03:00,      2026-04-24T01:00+03:00,     2026-04-25T00:00+03:00",
        // Midnight comes twice: the day begins with the second, and the hour before it belongs to the day before.
        "DAY,   America/Havana,   2026-11-01T00:30-04:00,      2026-10-31T00:00-04:00,     2026-11-01T00:00-05:00",
        "DAY,   America/Havana,   2026-11-01T00:30-05:00,      2026-11-01T00:00-05:00,     2026-11-02T00:00-05:00",
        "MONTH, America/Havana,   2026-11-01T00:30-04:00,      2026-10-01T00:00-04:00,     2026-11-01T00:00-05:00",
        "MONTH, America/Havana,   2026-11-01T00:00-05:00,      2026-11-01T00:00-05:00,     2026-12-01T00:00-05:00",
        // The clock goes back from midnight to eleven: one midnight, at the end of a day of 25 hours.
        "DAY,   Africa/Cairo,     2026-10-29T23:30+02:00,      2026-10-29T00:00+03:00,     2026-10-30T00:00+02:00",
        "WEEK,  America/Havana,   2026-03-08T12:00-04:00,      2026-03-02T00:00-05:00,     2026-03-09T00:00-04:00",
        // A change by half an hour begins half an hour.
        "HOUR,  Australia/Lord_Howe, 2026-04-05T01:59+11:00,   2026-04-05T01:00+11:00,     2026-04-05T01:30+10:30",
        "HOUR,  Australia/Lord_Howe, 2026-04-05T01:45+10:30,   2026-04-05T01:30+10:30,     2026-04-05T02:00+10:30",
        "HOUR,  Australia/Lord_Howe, 2026-10-04T01:59+10:30,   2026-10-04T01:00+10:30,     2026-10-04T02:30+11:00",
        "HOUR,  Australia/Lord_Howe, 2026-10-04T02:30+11:00,   2026-10-04T02:30+11:00,     2026-10-04T03:00+11:00",
        "HOUR,  Australia/Lord_Howe, 2026-10-04T03:00+11:00,   2026-10-04T03:00+11:00,     2026-10-04T04:00+11:00",
        "DAY,   Australia/Lord_Howe, 2026-04-05T12:00+10:30,   2026-04-05T00:00+11:00,     2026-04-06T00:00+10:30",
        // Before the epoch, numbers are negative, and windows are the same.
        "HOUR,  UTC,              1969-12-31T23:30Z,           1969-12-31T23:00Z,          1970-01-01T00:00Z",
        "DAY,   UTC,              1969-12-31T23:30Z,           1969-12-31T00:00Z,          1970-01-01T00:00Z",
    })
    void windowOfAMoment(
            CalendarUnit unit, ZoneId zone, OffsetDateTime moment, OffsetDateTime start, OffsetDateTime end) {
        Calendar calendar = new Calendar(unit, zone);
        long begin = CalendarWindows.startOf(calendar, Micros.of(moment.toInstant()));
        assertThat(Micros.toInstant(begin)).isEqualTo(start.toInstant());
        assertThat(Micros.toInstant(CalendarWindows.startAfter(calendar, begin)))
                .isEqualTo(end.toInstant());
    }

    /** Through three years: each window begins where the one before it ends, and a start is in its own window. */
    @ParameterizedTest
    @CsvSource({"HOUR", "DAY", "WEEK", "MONTH"})
    void windowsFollowEachOtherWithoutGapOrOverlap(CalendarUnit unit) {
        for (String zone : new String[] {
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "Asia/Kolkata",
            "America/Havana",
            "Africa/Cairo",
            "Australia/Lord_Howe",
            "Asia/Beirut",
            "America/Nuuk",
            "Atlantic/Azores",
            "America/Santiago"
        }) {
            Calendar calendar = new Calendar(unit, ZoneId.of(zone));
            long end = Micros.of(Instant.parse("2027-01-01T00:00:00Z"));
            long start = CalendarWindows.startOf(calendar, Micros.of(Instant.parse("2024-01-01T00:00:00Z")));
            while (start < end) {
                long next = CalendarWindows.startAfter(calendar, start);
                assertThat(next)
                        .as("%s after %s", calendar, Micros.toInstant(start))
                        .isGreaterThan(start);
                assertThat(CalendarWindows.startOf(calendar, start))
                        .as("%s at %s", calendar, Micros.toInstant(start))
                        .isEqualTo(start);
                assertThat(CalendarWindows.startOf(calendar, next - 1))
                        .as("%s until %s", calendar, Micros.toInstant(next))
                        .isEqualTo(start);
                start = next;
            }
        }
    }

    @Test
    void everyFarMomentHasAWindow() {
        Calendar calendar = new Calendar(CalendarUnit.MONTH, ZoneId.of("Europe/Berlin"));
        long moment = Micros.of(Instant.parse("9999-12-31T23:59:59.999999Z"));
        long start = CalendarWindows.startOf(calendar, moment);
        assertThat(start).isLessThanOrEqualTo(moment);
        assertThat(CalendarWindows.startAfter(calendar, start)).isGreaterThan(moment);
    }
}
