package dev.ratelimit.store.redis;

import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Estimates the clocks of servers. A server says its time with each answer. It was that time at the latest when the answer
 * arrived, so the time that has passed since then is added. The estimate is never later than the true time, unless a clock
 * was set back: then the server refuses what was decided, and says its time.
 */
final class ServerClocks {

    private final LongSupplier nanoTime;
    private final InstantSource here;

    /** The time of a server less that of {@link #nanoTime}, in microseconds. */
    private final Map<String, Long> offsets = new ConcurrentHashMap<>();

    ServerClocks() {
        this(System::nanoTime, InstantSource.system());
    }

    /**
     * @param here the guess for a server that has not said its time yet
     */
    ServerClocks(LongSupplier nanoTime, InstantSource here) {
        this.nanoTime = nanoTime;
        this.here = here;
    }

    /** The server has answered just now. */
    void told(String node, long micros) {
        offsets.put(node, micros - nanoTime.getAsLong() / 1_000);
    }

    /** The time of the server now, in microseconds since the epoch. */
    long now(String node) {
        Long offset = offsets.get(node);
        return offset == null ? Micros.of(here.instant()) : nanoTime.getAsLong() / 1_000 + offset;
    }
}
