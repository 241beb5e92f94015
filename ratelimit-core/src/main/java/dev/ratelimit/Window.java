package dev.ratelimit;

import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.Require;
import dev.ratelimit.support.Keyword;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.zone.ZoneRulesProvider;
import java.util.Set;

/** The window of a fixed-window limit: a span of time, or an hour, day, week or month of the calendar. */
public sealed interface Window {

    static Window of(Duration length) {
        return new Span(length);
    }

    static Window of(CalendarUnit unit, ZoneId zone) {
        return new Calendar(unit, zone);
    }

    /** The length; of a window of the calendar, the usual one. */
    Duration usualLength();

    /** As in "5 requests per minute". */
    String spoken();

    /** Windows of one length, aligned to the epoch. */
    record Span(Duration length) implements Window {
        public Span {
            Require.time("window", length);
        }

        @Override
        public Duration usualLength() {
            return length;
        }

        @Override
        public String spoken() {
            return Durations.spokenUnit(length);
        }

        @Override
        public String toString() {
            return Durations.text(length);
        }
    }

    /** Windows of the calendar in a zone; weeks begin on Monday. A day of a clock change has 23 or 25 hours. */
    record Calendar(CalendarUnit unit, ZoneId zone) implements Window {
        public Calendar {
            requireRegion(zone.getId());
        }

        @Override
        public Duration usualLength() {
            return unit.usualLength;
        }

        @Override
        public String spoken() {
            return unit.keyword();
        }

        @Override
        public String toString() {
            return unit.keyword() + " in " + zone;
        }
    }

    enum CalendarUnit {
        HOUR(Duration.ofHours(1)),
        DAY(Duration.ofDays(1)),
        WEEK(Duration.ofDays(7)),
        MONTH(Duration.ofDays(30));

        private final Duration usualLength;

        CalendarUnit(Duration usualLength) {
            this.usualLength = usualLength;
        }

        /** The word in configuration: {@code hour}, {@code day}, {@code week}, {@code month}. */
        public String keyword() {
            return Keyword.of(this);
        }
    }

    /**
     * The zone of that name. Only names of the time zone database are allowed. PostgreSQL reads offsets such as {@code +02:00}
     * and {@code GMT+2} the other way round, and {@code CET} as an abbreviation without summer time.
     */
    static ZoneId zone(String name) {
        requireRegion(name.strip());
        return ZoneId.of(name.strip());
    }

    private static void requireRegion(String name) {
        boolean known;
        try {
            known = ZoneRulesProvider.getAvailableZoneIds().contains(name)
                    && !Set.of("CET", "EET", "MET", "WET").contains(name)
                    && !name.startsWith("SystemV/");
        } catch (DateTimeException e) {
            known = false;
        }
        if (!known) {
            throw new InvalidLimitException(
                    null, "zone", name, "write a name of the time zone database such as Europe/Berlin or UTC");
        }
    }
}
