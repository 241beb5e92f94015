package dev.ratelimit.operate;

import dev.ratelimit.Penalties;
import dev.ratelimit.setting.Durations;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** Times as people read and write them. */
final class Times {

    static final String FOREVER = "forever";
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);

    private Times() {}

    /** The end of a block; {@code null} if it has none. */
    static @Nullable Instant endOrNull(Instant now, Instant until) {
        return Penalties.isForever(Duration.between(now, until)) ? null : until;
    }

    /** How long it still lasts: {@code 12s}, {@code 3m 20s}, {@code 2h 5m}, {@code 4d 2h} or {@code forever}. */
    static String left(Instant now, Instant until) {
        return spoken(Duration.between(now, until));
    }

    /** A time in its two largest units, the smaller rounded up; {@code forever} if it has no end. */
    static String spoken(Duration time) {
        if (Penalties.isForever(time)) {
            return FOREVER;
        }
        if (time.isNegative() || time.isZero()) {
            return "0s";
        }
        long seconds = roundedUp(time, Duration.ofSeconds(1));
        if (seconds < MINUTE.toSeconds()) {
            return seconds + "s";
        }
        if (seconds < HOUR.toSeconds()) {
            return twoUnits(seconds, 60, "m", "s");
        }
        long minutes = roundedUp(time, MINUTE);
        return minutes < DAY.toMinutes()
                ? twoUnits(minutes, 60, "h", "m")
                : twoUnits(roundedUp(time, HOUR), 24, "d", "h");
    }

    private static long roundedUp(Duration time, Duration unit) {
        long whole = time.dividedBy(unit);
        return unit.multipliedBy(whole).equals(time) ? whole : whole + 1;
    }

    private static String twoUnits(long small, long inLarge, String large, String letter) {
        long rest = small % inLarge;
        return small / inLarge + large + (rest == 0 ? "" : " " + rest + letter);
    }

    /**
     * The end of a change that is given as a time from now, or as a moment.
     *
     * @param time such as {@code 1h}, or {@code null}
     * @param moment such as {@code 2026-01-31T12:00:00Z}, or {@code null}
     * @return {@code null} if neither is given
     */
    static @Nullable Instant end(@Nullable String time, @Nullable String moment, Instant now) {
        if (time != null && moment != null) {
            throw new IllegalArgumentException(
                    "both duration ('" + time + "') and until ('" + moment + "') are given; write one");
        }
        if (time != null) {
            Duration length = Durations.parse("duration", time, Durations.ADVICE);
            if (length.isNegative() || length.isZero() || Penalties.isForever(length)) {
                throw new IllegalArgumentException("duration is '" + time
                        + "'; write a time from 1s to 3660d, or leave it out for a change without an end");
            }
            return now.plus(length);
        }
        if (moment == null) {
            return null;
        }
        try {
            return Instant.parse(moment.strip());
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("until is '" + moment + "'; write a moment such as " + now, e);
        }
    }
}
