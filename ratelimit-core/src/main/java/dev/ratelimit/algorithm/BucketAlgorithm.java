package dev.ratelimit.algorithm;

import dev.ratelimit.Rate;
import dev.ratelimit.setting.InvalidLimitException;
import dev.ratelimit.setting.Require;
import dev.ratelimit.support.Micros;
import java.time.Duration;

/**
 * An algorithm with a bucket whose level changes at a constant rate. With a rate of {@code p} permits in {@code P}
 * microseconds, a permit is {@code P} units. A microsecond changes the level by {@code p} units, so nothing is ever
 * rounded.
 */
abstract class BucketAlgorithm extends CountingAlgorithm {

    /** The most units a bucket may hold: what can be added twice without overflow. */
    static final long MOST_UNITS = 1L << 61;

    final long capacity;
    final Rate rate;
    final long unitsPerPermit;
    final long unitsPerMicro;

    /** The level of a full bucket, in units. */
    final long full;

    /**
     * @param property the name of the capacity in configuration
     */
    BucketAlgorithm(AlgorithmType type, String numbers, String property, long capacity, Rate rate) {
        super(type, numbers);
        Require.number(property, capacity);
        this.capacity = capacity;
        this.rate = rate;
        this.unitsPerPermit = Micros.of(rate.per());
        if (capacity > MOST_UNITS / unitsPerPermit) {
            throw new InvalidLimitException(
                    null,
                    property,
                    capacity,
                    "write at most " + MOST_UNITS / unitsPerPermit + " for the rate " + rate
                            + ", or a rate with a rounder number");
        }
        this.unitsPerMicro = rate.permits();
        this.full = capacity * unitsPerPermit;
    }

    @Override
    public final long capacity() {
        return capacity;
    }

    /** Multiplies the capacity by a factor; at most as much as can be counted. */
    final long capacityTimes(int factor) {
        return Math.min(Math.min(Require.MOST, MOST_UNITS / unitsPerPermit), capacity * factor);
    }

    @Override
    public final String counting() {
        return name();
    }

    /** The time in which an empty bucket fills, or a full one drains. */
    @Override
    public final Duration window() {
        return Micros.toDuration(full / unitsPerMicro);
    }

    @Override
    final Count uncharge(Count count, long now, long cost) {
        return charge(count, now, -cost);
    }
}
