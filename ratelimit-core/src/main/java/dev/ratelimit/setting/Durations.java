package dev.ratelimit.setting;

import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as people write them: {@code 15m}, {@code 500ms}, {@code 1d}, or ISO-8601 such as {@code PT15M}. */
public final class Durations {

    private static final Map<String, ChronoUnit> UNITS = Map.of(
            "us", ChronoUnit.MICROS,
            "ms", ChronoUnit.MILLIS,
            "s", ChronoUnit.SECONDS,
            "m", ChronoUnit.MINUTES,
            "h", ChronoUnit.HOURS,
            "d", ChronoUnit.DAYS);

    /** The remedy for a text that is not a time. */
    public static final String ADVICE = "write a time such as 500ms, 10s, 15m, 1h, 1d or PT15M";

    /** The longest time that can be counted in microseconds. */
    private static final Duration COUNTABLE = Micros.toDuration(Long.MAX_VALUE);

    private static final Pattern SIMPLE = Pattern.compile("(\\d{1,18})\\s*(us|ms|s|m|h|d)");

    private Durations() {}

    /** Reads a time. */
    public static Duration parse(String text) {
        return parse("time", text, ADVICE);
    }

    /**
     * Reads the time of a property.
     *
     * @param advice the remedy if the text is not a time
     */
    public static Duration parse(String property, String text, String advice) {
        String written = text.strip();
        Matcher simple = SIMPLE.matcher(written);
        try {
            if (simple.matches()) {
                return Duration.of(Long.parseLong(simple.group(1)), unit(simple.group(2)));
            }
            if (written.startsWith("P") || written.startsWith("-P")) {
                return Duration.parse(written);
            }
        } catch (ArithmeticException | DateTimeParseException e) {
            // falls through to the same advice as anything else that is not a time
        }
        throw new InvalidLimitException(null, property, text, advice);
    }

    /** The time that one of the letters means, for rates such as {@code 60/m}. */
    public static ChronoUnit unit(String letters) {
        ChronoUnit unit = UNITS.get(letters);
        if (unit == null) {
            throw new IllegalArgumentException("no unit of time is called '" + letters + "'");
        }
        return unit;
    }

    /** The shortest way to write a time: {@code 90s}, {@code 15m}, {@code 1d}. */
    public static String text(Duration time) {
        if (time.isZero()) {
            return "0s";
        }
        boolean hasParts =
                time.toNanosPart() % 1_000 != 0 || (time.toNanosPart() != 0 && time.compareTo(COUNTABLE) > 0);
        if (time.isNegative() || hasParts) {
            return time.toString();
        }
        for (String letters : new String[] {"d", "h", "m", "s", "ms"}) {
            Duration one = Duration.of(1, unit(letters));
            if (time.compareTo(one) >= 0
                    && one.multipliedBy(time.dividedBy(one)).equals(time)) {
                return time.dividedBy(one) + letters;
            }
        }
        return Micros.of(time) + "us";
    }

    /** The time in words: {@code 15 minutes}. */
    public static String spoken(Duration time) {
        if (time.toNanosPart() != 0 || time.isZero()) {
            return time.toMillis() + " milliseconds";
        }
        long seconds = time.toSeconds();
        if (seconds % 86_400 == 0) {
            return count(seconds / 86_400, "day");
        }
        if (seconds % 3_600 == 0) {
            return count(seconds / 3_600, "hour");
        }
        return seconds % 60 == 0 ? count(seconds / 60, "minute") : count(seconds, "second");
    }

    /** The time in words after "per": {@code minute} for one of them, {@code 15 minutes} for more. */
    public static String spokenUnit(Duration time) {
        String text = spoken(time);
        return text.startsWith("1 ") ? text.substring(2) : text;
    }

    /** A number of things: {@code 1 request}, {@code 5 requests}. */
    public static String count(long number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }
}
