package dev.ratelimit;

import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.Require;
import dev.ratelimit.support.Micros;
import java.math.BigInteger;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of permits per time, in lowest terms: {@code 60/m} and {@code 1/s} are the same rate.
 *
 * @param permits at least one
 * @param per more than zero, in whole microseconds
 */
public record Rate(long permits, Duration per) {

    private static final Pattern WRITTEN = Pattern.compile("(\\d{1,18})\\s*/\\s*(?:(\\d{1,18})\\s*)?(us|ms|s|m|h|d)");

    public Rate {
        Require.number("rate", permits);
        Require.time("rate", per);
        long micros = Micros.of(per);
        long common =
                BigInteger.valueOf(permits).gcd(BigInteger.valueOf(micros)).longValueExact();
        permits /= common;
        per = Micros.toDuration(micros / common);
    }

    public static Rate of(long permits, Duration per) {
        return new Rate(permits, per);
    }

    public static Rate perSecond(long permits) {
        return new Rate(permits, Duration.ofSeconds(1));
    }

    public static Rate perMinute(long permits) {
        return new Rate(permits, Duration.ofMinutes(1));
    }

    /** Reads {@code 1/s}, {@code 60/m} or {@code 5/15m}. */
    public static Rate parse(String text) {
        return parse("rate", text);
    }

    static Rate parse(String property, String text) {
        Matcher written = WRITTEN.matcher(text.strip());
        if (!written.matches()) {
            throw new InvalidLimitException(null, property, text, "write a rate such as 1/s, 60/m or 5/15m");
        }
        long times = written.group(2) == null ? 1 : Long.parseLong(written.group(2));
        try {
            return new Rate(Long.parseLong(written.group(1)), Duration.of(times, Durations.unit(written.group(3))));
        } catch (InvalidLimitException | ArithmeticException e) {
            throw new InvalidLimitException(
                    null,
                    property,
                    text,
                    "write 1 to " + Require.MOST + " permits in 1us to " + Durations.text(Require.LONGEST)
                            + ", such as 1/s, 60/m or 5/15m");
        }
    }

    /** The share of one instance of so many. */
    public Rate share(int instances) {
        Duration longer = per.multipliedBy(instances);
        return new Rate(permits, longer.compareTo(Require.LONGEST) > 0 ? Require.LONGEST : longer);
    }

    /** Multiplies the permits by a factor, in the same time. */
    public Rate times(int factor) {
        return new Rate(Math.min(Require.MOST, permits * factor), per);
    }

    /** The rate in words: {@code 5 per 15 minutes}. */
    public String spoken() {
        return permits + " per " + Durations.spokenUnit(per);
    }

    @Override
    public String toString() {
        String time = Durations.text(per);
        return permits + "/" + (time.matches("1[a-z]+") ? time.substring(1) : time);
    }
}
