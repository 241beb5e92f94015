package dev.ratelimit.setting;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The checks that the numbers of a limit must pass. */
public final class Require {

    /** The most requests, tokens or units that a limit may speak of. */
    public static final long MOST = 1_000_000_000_000L;

    /** The longest time that a limit or another setting may have. */
    public static final Duration LONGEST = Duration.ofDays(3660);

    private Require() {}

    public static void number(String property, long value, long most) {
        if (value < 1 || value > most) {
            throw new InvalidLimitException(null, property, value, "write a whole number from 1 to " + most);
        }
    }

    public static void number(String property, long value) {
        number(property, value, MOST);
    }

    public static void time(String property, Duration value) {
        if (value.isZero()) {
            throw new InvalidLimitException(null, property, Durations.text(value), "write a time such as 1m");
        }
        timeOrZero(property, value);
    }

    public static void timeOrZero(String property, Duration value) {
        if (value.isNegative() || value.compareTo(LONGEST) > 0 || value.toNanosPart() % 1_000 != 0) {
            throw new InvalidLimitException(
                    null,
                    property,
                    Durations.text(value),
                    "write a time in whole microseconds of at most " + LONGEST.toDays() + "d, such as 1m");
        }
    }

    public static <T> T present(String property, @Nullable T value, String advice) {
        if (value == null) {
            throw new InvalidLimitException(null, property, null, advice);
        }
        return value;
    }
}
