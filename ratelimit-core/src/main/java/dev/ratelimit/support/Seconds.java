package dev.ratelimit.support;

import java.time.Duration;
import java.time.Instant;

/** Whole seconds for HTTP headers. They are rounded up: a client that waits that long never comes too early. */
public final class Seconds {

    private Seconds() {}

    /** Not less than the time, and not less than zero. */
    public static long roundedUp(Duration time) {
        return Math.max(0, time.getSeconds() + (time.getNano() > 0 ? 1 : 0));
    }

    /** Since the epoch, not before the moment. */
    public static long roundedUp(Instant moment) {
        return moment.getEpochSecond() + (moment.getNano() > 0 ? 1 : 0);
    }
}
