package dev.ratelimit.store.postgresql;

import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** Estimates the clock of the database. Safe for use by many threads. */
final class PostgresTime {

    private final InstantSource machine;
    private final boolean given;
    private volatile long ahead;

    /**
     * @param clock the clock that is used instead of that of the database, or {@code null}
     */
    PostgresTime(@Nullable InstantSource clock) {
        this.machine = clock == null ? InstantSource.system() : clock;
        this.given = clock != null;
    }

    long expected() {
        return Micros.of(machine.instant()) + ahead;
    }

    /** The clock of the database showed this a moment ago. */
    void observe(long now) {
        if (!given) {
            ahead = now - Micros.of(machine.instant());
        }
    }
}
