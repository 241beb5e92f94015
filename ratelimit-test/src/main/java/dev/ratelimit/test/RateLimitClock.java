package dev.ratelimit.test;

import dev.ratelimit.setting.Durations;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;

/**
 * The clock of the limits in a test: inject it, and move it instead of waiting. Limits, penalties, quotas, blocks and the
 * expiry of API keys all go by it. Each test starts at the last whole minute; from then on the clock stands still until you
 * move it. Safe for use by many threads.
 */
public final class RateLimitClock implements InstantSource {

    private Instant base;
    private boolean running;
    private long runningSince;

    /** A clock that stands at the last whole minute. */
    public RateLimitClock() {
        this(Instant.now().truncatedTo(ChronoUnit.MINUTES));
    }

    public RateLimitClock(Instant now) {
        this.base = now;
    }

    @Override
    public synchronized Instant instant() {
        return running ? base.plusNanos(System.nanoTime() - runningSince) : base;
    }

    /** Moves the clock forward. */
    public synchronized void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("The clock cannot be advanced by " + time
                    + "; write a time of zero or more, or use set(instant) to move it back");
        }
        base = base.plus(time);
    }

    /**
     * Moves the clock forward.
     *
     * @param time as in the configuration, such as {@code 42s} or {@code 1m}
     */
    public void advance(String time) {
        advance(Durations.parse(time));
    }

    /** Sets the clock to a moment, later or earlier. */
    public synchronized void set(Instant moment) {
        base = moment;
        runningSince = System.nanoTime();
    }

    /**
     * Sets the clock to a moment, later or earlier.
     *
     * @param moment such as {@code 2026-03-02T10:00:00Z}
     */
    public void set(String moment) {
        try {
            set(Instant.parse(moment));
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    "The clock cannot be set to '" + moment + "'; write a moment such as 2026-03-02T10:00:00Z", e);
        }
    }

    /** Lets the clock run from now on as that of the machine does, for tests that wait. */
    public synchronized void run() {
        if (!running) {
            running = true;
            runningSince = System.nanoTime();
        }
    }

    /** Lets the clock stand still again. */
    public synchronized void stop() {
        base = instant();
        running = false;
    }

    synchronized void reset() {
        running = false;
        base = Instant.now().truncatedTo(ChronoUnit.MINUTES);
    }

    @Override
    public String toString() {
        return "RateLimitClock at " + instant();
    }
}
