package dev.ratelimit.support;

import java.time.Duration;
import java.time.Instant;

/** Time as this project counts it: whole microseconds, since the epoch for moments. */
public final class Micros {

    public static final long PER_SECOND = 1_000_000;

    private static final long NANOS_PER_MICRO = 1_000;

    private Micros() {}

    /** The microsecond in which the moment lies. */
    public static long of(Instant moment) {
        try {
            return Math.addExact(
                    Math.multiplyExact(moment.getEpochSecond(), PER_SECOND), moment.getNano() / NANOS_PER_MICRO);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    "the moment is " + moment + "; write one of the years that microseconds can tell, such as 9999", e);
        }
    }

    /** The whole microseconds of a span, rounded down. */
    public static long of(Duration span) {
        return Math.addExact(Math.multiplyExact(span.getSeconds(), PER_SECOND), span.getNano() / NANOS_PER_MICRO);
    }

    public static Instant toInstant(long micros) {
        long seconds = Math.floorDiv(micros, PER_SECOND);
        return Instant.ofEpochSecond(seconds, (micros - seconds * PER_SECOND) * NANOS_PER_MICRO);
    }

    public static Duration toDuration(long micros) {
        long seconds = Math.floorDiv(micros, PER_SECOND);
        return Duration.ofSeconds(seconds, (micros - seconds * PER_SECOND) * NANOS_PER_MICRO);
    }
}
