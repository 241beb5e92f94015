package dev.ratelimit.monitor;

import dev.ratelimit.Subject;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Estimates how many different subjects were seen in the last minute, in a few kilobytes however many there are.
 *
 * <p>It is a HyperLogLog with 1,024 registers, whose standard error is about 3 %; below some 2,000 subjects it counts empty
 * registers instead, which is more precise. There is one for each ten seconds; those of a minute are merged when they are read.
 * Texts are hashed with a random seed, so that nobody can choose names that count as one. Thread-safe: two threads at the same
 * register may lose the smaller of their values.
 */
final class DistinctSubjects {

    private static final int INDEX_BITS = 10;
    private static final int REGISTERS = 1 << INDEX_BITS;
    private static final double ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);
    private static final double SMALL = 2.5 * REGISTERS;

    private static final int PARTS = 8;
    private static final int PARTS_OF_A_MINUTE = 6;
    private static final long PART_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long SEED = new SplittableRandom().nextLong();

    /** The registers of one period of ten seconds. */
    private static final class Part {

        private final long period;
        private final byte[] registers = new byte[REGISTERS];

        private Part(long period) {
            this.period = period;
        }
    }

    private final AtomicReferenceArray<@Nullable Part> parts = new AtomicReferenceArray<>(PARTS);

    void add(Subject subject, long nanos) {
        long hash = hash(subject.text());
        int register = (int) (hash >>> (Long.SIZE - INDEX_BITS));
        // The bit at the end bounds the rank.
        byte rank = (byte) (Long.numberOfLeadingZeros((hash << INDEX_BITS) | (1L << (INDEX_BITS - 1))) + 1);
        byte[] registers = current(nanos).registers;
        if (registers[register] < rank) {
            registers[register] = rank;
        }
    }

    private Part current(long nanos) {
        long period = Math.floorDiv(nanos, PART_NANOS);
        int place = (int) Math.floorMod(period, (long) PARTS);
        while (true) {
            Part part = parts.get(place);
            if (part != null && part.period == period) {
                return part;
            }
            Part fresh = new Part(period);
            if (parts.compareAndSet(place, part, fresh)) {
                return fresh;
            }
        }
    }

    /** The number of different subjects in the last 50 to 60 seconds. */
    long estimate(long nanos) {
        return estimate(nanos, PARTS_OF_A_MINUTE);
    }

    /** The number of different subjects in the last 70 to 80 seconds: not less than in a minute that has just ended. */
    long estimateGenerously(long nanos) {
        return estimate(nanos, PARTS);
    }

    private long estimate(long nanos, int newest) {
        long period = Math.floorDiv(nanos, PART_NANOS);
        byte[] merged = new byte[REGISTERS];
        for (int i = 0; i < PARTS; i++) {
            Part part = parts.get(i);
            if (part != null && part.period <= period && part.period > period - newest) {
                for (int register = 0; register < REGISTERS; register++) {
                    merged[register] = (byte) Math.max(merged[register], part.registers[register]);
                }
            }
        }
        return estimate(merged);
    }

    private static long estimate(byte[] registers) {
        double sum = 0;
        int empty = 0;
        for (byte rank : registers) {
            sum += Math.scalb(1.0, -rank);
            empty += rank == 0 ? 1 : 0;
        }
        double raw = ALPHA * REGISTERS * REGISTERS / sum;
        return Math.round(raw <= SMALL && empty > 0 ? REGISTERS * Math.log((double) REGISTERS / empty) : raw);
    }

    private static long hash(String text) {
        long hash = SEED;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x9E3779B97F4A7C15L;
            hash ^= hash >>> 32;
        }
        hash = (hash ^ (hash >>> 29)) * 0xBF58476D1CE4E5B9L;
        return hash ^ (hash >>> 32);
    }
}
