package dev.ratelimit.operate;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of this instance.
 *
 * @param store {@code null} if the limiter is not ours
 * @param queue {@code null} if the limiter is not ours
 * @param pool {@code null} if the limiter has no connections of its own
 * @param lastUpkeepAt when expired state was last deleted; {@code null} if it was not yet
 * @param warnings the conditions that an operator should look at, the most urgent first
 */
public record InstanceStatus(
        @Nullable Store store,
        @Nullable Queue queue,
        @Nullable Pool pool,
        @Nullable Instant lastUpkeepAt,
        List<Warning> warnings) {

    public InstanceStatus {
        warnings = List.copyOf(warnings);
    }

    /**
     * The store.
     *
     * @param name such as {@code postgresql}
     * @param available whether it decides; otherwise the failure policy of each request does
     * @param circuit {@code closed} while requests ask it, {@code half-open} or {@code open} after it failed
     * @param reason why it is unavailable, or {@code null}
     * @param unavailableFor for how long, such as {@code 12s}; {@code null} if it is available
     */
    public record Store(
            String name,
            boolean available,
            String circuit,
            @Nullable String reason,
            @Nullable String unavailableFor) {}

    /** Requests that wait for the store, and how many may. */
    public record Queue(int waiting, int capacity) {}

    /**
     * The connections of the limiter to its database.
     *
     * @param active how many are in use
     * @param idle how many are open and not in use
     * @param waiting how many threads wait for one
     * @param capacity how many there may be
     */
    public record Pool(int active, int idle, int waiting, int capacity) {}

    /**
     * A condition that an operator should look at.
     *
     * @param kind such as {@code store-failing}
     * @param limit the limit that it is about, or {@code null}
     * @param rule the rule that it is about, or {@code null}
     */
    public record Warning(
            String kind, @Nullable String limit, @Nullable String rule, String sentence) {}

    /** Reads the state of this instance, from memory. */
    @FunctionalInterface
    public interface Reader {
        InstanceStatus read();
    }
}
