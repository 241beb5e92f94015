package dev.ratelimit.caller;

import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Window;
import dev.ratelimit.Window.CalendarUnit;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.setting.InvalidLimitException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The total use a caller is allowed per second, hour, day and month. A null value is unlimited. Hours, days and months are those
 * of the calendar. A rule refers to the quota of its caller by the name {@link #LIMIT}.
 *
 * @param burst how many requests may come at once; they are refilled at the finest of the other numbers
 * @param zone where days and months begin; {@code null} for the default zone
 */
public record Quota(
        @Nullable Long perSecond,
        @Nullable Long perHour,
        @Nullable Long perDay,
        @Nullable Long perMonth,
        @Nullable Long burst,
        @Nullable ZoneId zone) {

    /** The name by which a rule refers to the quota of its caller, and the first part of the names of its limits. */
    public static final String LIMIT = "quota";

    /** Restricts nothing. */
    public static final Quota NONE = new Quota(null, null, null, null, null, null);

    /** The capacity of a bucket at the slowest rate, so that any burst fits any other number. */
    private static final long MOST_BURST = 500_000;

    private static final String PREFIX = LIMIT + ":";
    private static final String SECOND = PREFIX + "second";
    private static final String HOUR = PREFIX + "hour";
    private static final String DAY = PREFIX + "day";
    private static final String MONTH = PREFIX + "month";
    private static final String BURST = PREFIX + "burst";

    public Quota {
        require("per-second", perSecond, Limit.UNRESTRICTED - 1);
        require("per-hour", perHour, Limit.UNRESTRICTED - 1);
        require("per-day", perDay, Limit.UNRESTRICTED - 1);
        require("per-month", perMonth, Limit.UNRESTRICTED - 1);
        require("burst", burst, MOST_BURST);
        if (burst != null && perSecond == null && perHour == null && perDay == null && perMonth == null) {
            throw new InvalidLimitException(
                    LIMIT, "burst", burst, "write per-second, per-hour, per-day or per-month beside it");
        }
    }

    private static void require(String property, @Nullable Long number, long most) {
        if (number != null && (number < 1 || number > most)) {
            throw new InvalidLimitException(LIMIT, property, number, "write a whole number from 1 to " + most);
        }
    }

    /** Whether the limit of that name is one of the limits of a quota. No other limit can have such a name. */
    public static boolean isPart(String limitName) {
        return limitName.startsWith(PREFIX);
    }

    /** The part that a limit of a quota counts, such as {@code day} for {@code quota:day}. */
    public static String part(String limitName) {
        if (!isPart(limitName)) {
            throw new IllegalArgumentException("limit '" + limitName + "' is not part of a quota; ask isPart first");
        }
        return limitName.substring(PREFIX.length());
    }

    public boolean isNone() {
        return perSecond == null && perHour == null && perDay == null && perMonth == null && burst == null;
    }

    /** This quota, with the numbers of another where it says nothing. */
    public Quota orElse(Quota other) {
        return new Quota(
                perSecond != null ? perSecond : other.perSecond,
                perHour != null ? perHour : other.perHour,
                perDay != null ? perDay : other.perDay,
                perMonth != null ? perMonth : other.perMonth,
                burst != null ? burst : other.burst,
                zone != null ? zone : other.zone);
    }

    /**
     * The limits that hold a caller to this quota. Days and months are always counted, even where they are not
     * restricted, so that usage can be shown.
     *
     * @param defaultZone where days and months begin if the quota does not say
     */
    public List<Limit> limits(ZoneId defaultZone) {
        ZoneId calendar = zone != null ? zone : defaultZone;
        List<Limit> limits = new ArrayList<>(4);
        if (burst != null) {
            limits.add(Limit.named(BURST)
                    .algorithm(Algorithms.burst(burst, finest()))
                    .build());
        } else if (perSecond != null) {
            limits.add(Limit.named(SECOND)
                    .algorithm(Algorithms.atMost(perSecond, Window.of(Duration.ofSeconds(1))))
                    .build());
        }
        if (perHour != null) {
            limits.add(Limit.named(HOUR)
                    .algorithm(Algorithms.atMost(perHour, Window.of(CalendarUnit.HOUR, calendar)))
                    .build());
        }
        limits.add(day(calendar));
        limits.add(month(calendar));
        return limits;
    }

    /** The limit that counts the days of the quota's calendar. */
    public Limit day(ZoneId defaultZone) {
        return calendar(DAY, perDay, CalendarUnit.DAY, defaultZone);
    }

    /** The limit that counts the months of the quota's calendar. */
    public Limit month(ZoneId defaultZone) {
        return calendar(MONTH, perMonth, CalendarUnit.MONTH, defaultZone);
    }

    private Limit calendar(String name, @Nullable Long number, CalendarUnit unit, ZoneId defaultZone) {
        return Limit.named(name)
                .algorithm(Algorithms.atMost(
                        number != null ? number : Limit.UNRESTRICTED,
                        Window.of(unit, zone != null ? zone : defaultZone)))
                .build();
    }

    private Rate finest() {
        if (perSecond != null) {
            return Rate.perSecond(perSecond);
        }
        if (perHour != null) {
            return Rate.of(perHour, Duration.ofHours(1));
        }
        if (perDay != null) {
            return Rate.of(perDay, Duration.ofDays(1));
        }
        return Rate.of(Objects.requireNonNull(perMonth), Duration.ofDays(30));
    }
}
