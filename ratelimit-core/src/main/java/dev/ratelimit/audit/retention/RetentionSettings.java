package dev.ratelimit.audit.retention;

import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.InvalidSettingException;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;

/**
 * How long rows are kept. A month is dropped as a whole, once its end is past that time.
 *
 * @param audit of the audit trail
 * @param minutes of totals per minute
 * @param hours of totals per hour; not less than those per minute
 * @param days of totals per day
 * @param archives how long archives of the audit trail are kept
 */
public record RetentionSettings(Duration audit, Duration minutes, Duration hours, Duration days, Duration archives) {

    private static final Duration SHORTEST = Duration.ofDays(1);

    /** Hours are summed to the day before today, too. */
    private static final Duration SHORTEST_HOURS = Duration.ofDays(2);

    private static final Duration LONGEST = Duration.ofDays(36_600);

    /** 90, 31 and 400 days; seven years for totals per day and for archives. */
    public static final RetentionSettings DEFAULT = new RetentionSettings(
            Duration.ofDays(90),
            Duration.ofDays(31),
            Duration.ofDays(400),
            Duration.ofDays(2557),
            Duration.ofDays(2557));

    public RetentionSettings {
        require("keep", audit, SHORTEST, "90d");
        require("keep-minutes", minutes, SHORTEST, "31d");
        require("keep-hours", hours, SHORTEST_HOURS, "400d");
        if (hours.compareTo(minutes) < 0) {
            throw new InvalidSettingException(
                    "keep-hours",
                    Durations.text(hours),
                    "write at least the time of keep-minutes (" + Durations.text(minutes)
                            + "): hours are summed up from minutes");
        }
        require("keep-days", days, SHORTEST, "2557d");
        require("archive.keep", archives, SHORTEST, "2557d");
        if (archives.compareTo(audit) <= 0) {
            throw new InvalidSettingException(
                    "archive.keep",
                    Durations.text(archives),
                    "write a longer time than keep (" + Durations.text(audit)
                            + "): archives are made when rows of that age are dropped");
        }
    }

    private static void require(String property, Duration time, Duration shortest, String example) {
        if (time.compareTo(shortest) < 0 || time.compareTo(LONGEST) > 0) {
            throw new InvalidSettingException(
                    property,
                    Durations.text(time),
                    "write a time from " + Durations.text(shortest) + " to " + Durations.text(LONGEST) + ", such as "
                            + example);
        }
    }

    Duration of(RetainedRows rows) {
        return switch (rows) {
            case AUDIT -> audit;
            case MINUTES -> minutes;
            case HOURS -> hours;
            case DAYS -> days;
        };
    }

    /** The first month that is not over for that long. */
    static YearMonth firstKept(Instant now, Duration keep) {
        return YearMonth.from(now.minus(keep).atZone(ZoneOffset.UTC));
    }
}
