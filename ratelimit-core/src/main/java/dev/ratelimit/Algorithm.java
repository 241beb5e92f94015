package dev.ratelimit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a limit counts, with its numbers. The algorithms are the classes of {@code dev.ratelimit.algorithm}. Immutable; two
 * of one kind with the same numbers are equal.
 */
public interface Algorithm {

    /** The name in configuration, in the tables and in metrics. */
    String name();

    /** The most that the limit can ever grant at once. */
    long capacity();

    /** The count that it keeps, such as {@code NAME of 1m}: two that say the same can go on from each other's count. */
    String counting();

    /** The length of the window; for a bucket, the time in which it is whole again. */
    Duration window();

    /** A sentence for the client that was denied. */
    String sentence();

    /** Whether an admitted request may have to wait for its turn. */
    default boolean givesTurns() {
        return false;
    }

    /** Why no permits can be taken in advance, or {@code null} if they can. */
    default @Nullable String leaseObstacle() {
        return null;
    }

    /** The share of one instance of so many: never less than one permit. */
    Algorithm share(int instances);

    /** Multiplies the capacity by a factor, in the same time; at most as much as the algorithm can count to. */
    Algorithm times(int factor);

    /** The same window with a number that is never reached, to read its count. */
    default Algorithm unrestricted() {
        throw new IllegalStateException(name() + " has no window whose count could be read");
    }
}
