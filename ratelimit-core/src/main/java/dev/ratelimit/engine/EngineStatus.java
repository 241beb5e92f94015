package dev.ratelimit.engine;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The state of a limiter at one moment, and its counts since the start. Reading it waits for nothing.
 *
 * @param denials the cached denials: a hit is a request that was denied without the store
 * @param leases the leases of hot subjects: a hit is a request that was served without the store
 */
public record EngineStatus(Store store, Queue queue, Calls calls, Cache denials, Cache leases) {

    /**
     * The store, as far as requests have found out. It may have several {@linkplain
     * dev.ratelimit.store.LimitStore#part parts}, such as shards, that fail by themselves.
     *
     * @param available whether all its parts decide; otherwise the failure policy of each request does that needs the others
     * @param circuit whether requests ask it: open if that of any part is
     * @param reason why it is unavailable, or {@code null}
     * @param unavailableFor for how long; zero if it is available
     * @param parts how many parts requests have met; one if the store has no parts
     * @param openParts the number of parts whose circuit is not closed
     */
    public record Store(
            boolean available,
            Circuit circuit,
            @Nullable String reason,
            Duration unavailableFor,
            int parts,
            int openParts) {}

    /** Whether requests ask the store. */
    public enum Circuit {
        /** All do. */
        CLOSED,
        /** The next one does, to see whether it is back. */
        HALF_OPEN,
        /** None does, since it has failed a moment ago. */
        OPEN
    }

    /**
     * Requests that wait for the store, in all its queues: one for each part, and one for requests that need several parts.
     *
     * @param waiting how many wait for their group
     * @param capacity how many may wait; more are {@linkplain dev.ratelimit.Outcome#OVERLOADED rejected or let through}
     * @param groups how many groups are at the store
     * @param mostGroups how many may be there at once
     */
    public record Queue(int waiting, int capacity, int groups, int mostGroups) {}

    /**
     * The calls of the store since the start, each for one group.
     *
     * @param requests how many requests were in these groups
     */
    public record Calls(long count, long requests, Duration took) {}

    /**
     * A memory of this process that spares requests the way to the store.
     *
     * @param misses requests that it was asked for in vain
     * @param size how many subjects it holds now
     */
    public record Cache(long hits, long misses, long size) {}
}
