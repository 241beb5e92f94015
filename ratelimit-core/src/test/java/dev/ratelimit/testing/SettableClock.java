package dev.ratelimit.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that stands still until it is moved, forward or back. */
public final class SettableClock implements InstantSource {

    private volatile Instant now;

    public SettableClock(Instant now) {
        this.now = now;
    }

    /** A clock at the start of an hour, so that windows of up to an hour begin with it. */
    public SettableClock() {
        this(Instant.parse("2026-03-02T10:00:00Z"));
    }

    @Override
    public Instant instant() {
        return now;
    }

    public void set(Instant moment) {
        now = moment;
    }

    /** Moves the clock by that much; back if it is negative. */
    public void move(Duration by) {
        now = now.plus(by);
    }
}
