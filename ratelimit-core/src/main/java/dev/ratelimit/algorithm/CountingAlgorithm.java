package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import org.jspecify.annotations.Nullable;

/**
 * An algorithm with its step: pure functions of a count, a moment and a cost. Every method but {@link #roll} takes a count
 * that was rolled to {@code now}.
 *
 * <p>To add an algorithm, extend this class, and name the new one in {@link Algorithms}. Nothing else knows the algorithms.
 */
public abstract class CountingAlgorithm implements Algorithm {

    /** The most that a count may reach: room to add to it without overflow. */
    static final long MOST = 1L << 61;

    private final String name;
    private final String numbers;

    /**
     * @param numbers all numbers of the algorithm, in lowest terms: they make two algorithms equal
     */
    CountingAlgorithm(AlgorithmType type, String numbers) {
        this.name = type.name();
        this.numbers = numbers;
    }

    /** The algorithm of a limit. Limits are built of these alone. */
    static CountingAlgorithm of(Limit limit) {
        return (CountingAlgorithm) limit.algorithm();
    }

    @Override
    public final String name() {
        return name;
    }

    /**
     * The count as of now, in the numbers of this limit: windows rolled, buckets refilled, nothing charged.
     *
     * @param stored the stored count, {@link Count#NONE} if nothing was counted in this way yet
     * @param last when it was stored
     */
    abstract Count roll(Count stored, long last, long now);

    /** The first moment, not before now, that has room for the cost if nothing else happens. */
    abstract long availableAt(Count count, long now, long cost);

    /** How long an admitted request waits for its turn. */
    long delay(Count count) {
        return 0;
    }

    abstract Count charge(Count count, long now, long cost);

    /** The inverse of {@link #charge}. */
    abstract Count uncharge(Count count, long now, long cost);

    /** The count had the charge been of this cost instead. */
    abstract Count settle(Count count, long now, Charge charge, long cost);

    /** Adds the charges made elsewhere between {@code before} and {@code after}. The sum may exceed the limit. */
    abstract Count add(Count count, Count before, Count after);

    /** The count of a subject of which only that answer is known. It never grants more than the true count does. */
    abstract Count known(Verdict verdict, long now);

    /** How many single units would be admitted now. */
    abstract long remaining(Count count, long now);

    /** When it is whole again if nothing else happens. */
    abstract long resetAt(Count count, long now);

    /** How many of the permits that were charged then may still be served at that moment. See {@link Charge#servable}. */
    abstract long servable(Charge charge, long now);

    @Override
    public final boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof CountingAlgorithm algorithm
                        && name.equals(algorithm.name)
                        && numbers.equals(algorithm.numbers));
    }

    @Override
    public final int hashCode() {
        return 31 * name.hashCode() + numbers.hashCode();
    }

    @Override
    public final String toString() {
        return name + " " + numbers;
    }
}
