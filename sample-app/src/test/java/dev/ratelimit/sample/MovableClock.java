package dev.ratelimit.sample;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

/** Stands still until it is moved, or until it is let run. */
final class MovableClock implements InstantSource {

    private Instant base = Instant.parse("2026-03-02T10:00:00Z");
    private long runningSince;
    private boolean running;

    @Override
    public synchronized Instant instant() {
        return running ? base.plusNanos(System.nanoTime() - runningSince) : base;
    }

    synchronized void move(Duration by) {
        base = base.plus(by);
    }

    synchronized void run() {
        runningSince = System.nanoTime();
        running = true;
    }

    /** Stops it at the next whole second. */
    synchronized void stop() {
        base = instant().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
        running = false;
    }
}
