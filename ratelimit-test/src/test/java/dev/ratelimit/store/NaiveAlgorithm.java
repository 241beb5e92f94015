package dev.ratelimit.store;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Rate;
import dev.ratelimit.support.Micros;
import java.util.ArrayList;
import java.util.List;

/**
 * The meaning of an algorithm, as plainly as possible: all admitted requests are kept, or a level is kept exactly.
 * Written from the description of the algorithms, not from their code.
 */
abstract class NaiveAlgorithm {

    /** One admitted request; a settlement changes what it counts for. */
    static final class Admitted {
        final long at;
        final long cost;
        private long amount;
        private Fraction levelAfter = Fraction.ZERO;

        private Admitted(long at, long cost) {
            this.at = at;
            this.cost = cost;
            this.amount = cost;
        }
    }

    static NaiveAlgorithm of(Algorithm algorithm) {
        if (algorithm instanceof dev.ratelimit.algorithm.FixedWindow fixed) {
            return new FixedWindow(fixed.maxRequests(), NaiveWindows.of(fixed.alignment()));
        }
        if (algorithm instanceof dev.ratelimit.algorithm.SlidingWindow sliding) {
            return new SlidingWindow(sliding.maxRequests(), Micros.of(sliding.window()));
        }
        if (algorithm instanceof dev.ratelimit.algorithm.SlidingLog sliding) {
            return new SlidingLog(sliding.maxRequests(), Micros.of(sliding.window()));
        }
        if (algorithm instanceof dev.ratelimit.algorithm.TokenBucket bucket) {
            return new TokenBucket(bucket.burst(), bucket.refill());
        }
        dev.ratelimit.algorithm.LeakyBucket bucket = (dev.ratelimit.algorithm.LeakyBucket) algorithm;
        return new LeakyBucket(bucket.capacity(), bucket.drain(), Micros.of(bucket.maxWait()));
    }

    /** Whether a request would be admitted at that moment, now or later, if nothing else happens before. */
    abstract boolean hasRoom(long at, long cost);

    /** Whether so many requests of cost one would be admitted, one after the other. */
    boolean hasRoomForSingles(long at, long number) {
        return hasRoom(at, number);
    }

    /** Whether nothing is used at that moment, if nothing else happens before. */
    abstract boolean isWhole(long at);

    /** Whether it would be the turn, at that moment, of a request that is admitted now. */
    boolean isTurn(long at) {
        return true;
    }

    abstract Admitted admit(long at, long cost);

    abstract void settle(Admitted admitted, long at, long cost);

    abstract void reset();

    /** An algorithm that counts requests. */
    private abstract static class Counting extends NaiveAlgorithm {

        final List<Admitted> all = new ArrayList<>();

        @Override
        final Admitted admit(long at, long cost) {
            Admitted admitted = new Admitted(at, cost);
            all.add(admitted);
            return admitted;
        }

        @Override
        void settle(Admitted admitted, long at, long cost) {
            admitted.amount = cost;
        }

        @Override
        final void reset() {
            all.clear();
        }
    }

    /** The sum of all that was admitted in the same window. */
    private static final class FixedWindow extends Counting {

        private final long max;
        private final NaiveWindows windows;

        FixedWindow(long max, NaiveWindows windows) {
            this.max = max;
            this.windows = windows;
        }

        private long used(long at) {
            long window = windows.startOf(at);
            return all.stream()
                    .filter(one -> windows.startOf(one.at) == window)
                    .mapToLong(one -> one.amount)
                    .sum();
        }

        @Override
        boolean hasRoom(long at, long cost) {
            return used(at) + cost <= max;
        }

        @Override
        boolean isWhole(long at) {
            return used(at) == 0;
        }
    }

    /** The current window, and of the previous one the share that a window ending now overlaps. */
    private static final class SlidingWindow extends Counting {

        private final long max;
        private final long size;

        SlidingWindow(long max, long size) {
            this.max = max;
            this.size = size;
        }

        private Fraction used(long at) {
            long window = at / size;
            Fraction left = Fraction.of(size - at % size, size);
            return Fraction.of(count(window))
                    .plus(Fraction.of(count(window - 1)).times(left));
        }

        private long count(long window) {
            return all.stream()
                    .filter(one -> one.at / size == window)
                    .mapToLong(one -> one.amount)
                    .sum();
        }

        @Override
        boolean hasRoom(long at, long cost) {
            return used(at).plus(Fraction.of(cost)).atMost(Fraction.of(max));
        }

        @Override
        boolean isWhole(long at) {
            return used(at).equals(Fraction.ZERO);
        }
    }

    /** All that was admitted less than a window ago. */
    private static final class SlidingLog extends Counting {

        private final long max;
        private final long size;

        SlidingLog(long max, long size) {
            this.max = max;
            this.size = size;
        }

        private long used(long at) {
            return all.stream()
                    .filter(one -> at - one.at < size)
                    .mapToLong(one -> one.amount)
                    .sum();
        }

        @Override
        boolean hasRoom(long at, long cost) {
            return used(at) + cost <= max;
        }

        @Override
        boolean isWhole(long at) {
            return used(at) == 0;
        }

        /** A log that holds twice the limit does not grow further. */
        @Override
        void settle(Admitted admitted, long at, long cost) {
            long more = cost - admitted.cost;
            admitted.amount += Math.min(more, Math.max(0, 2 * max - used(at)));
        }
    }

    /** A level that changes by a constant rate. */
    private abstract static class Bucket extends NaiveAlgorithm {

        final Fraction capacity;
        final Fraction perMicro;
        Fraction level;
        long last;

        Bucket(long capacity, Rate rate) {
            this.capacity = Fraction.of(capacity);
            this.perMicro = Fraction.of(rate.permits(), Micros.of(rate.per()));
        }

        /** The level after that time, if nothing else happens. */
        abstract Fraction after(Fraction before, long elapsed);

        final Fraction levelAt(long at) {
            return after(level, at - last);
        }

        final void set(long at, Fraction to) {
            level = to;
            last = at;
        }

        @Override
        final Admitted admit(long at, long cost) {
            Admitted admitted = new Admitted(at, cost);
            set(at, charged(levelAt(at), Fraction.of(cost)));
            admitted.levelAfter = level;
            return admitted;
        }

        abstract Fraction charged(Fraction before, Fraction cost);

        @Override
        final void settle(Admitted admitted, long at, long cost) {
            if (cost > admitted.cost) {
                set(at, charged(levelAt(at), Fraction.of(cost - admitted.cost)));
            } else {
                Fraction untouched = after(admitted.levelAfter, at - admitted.at);
                set(at, refunded(levelAt(at), Fraction.of(admitted.cost - cost), untouched));
            }
        }

        /**
         * @param untouched the level if nothing had happened since the charge
         */
        abstract Fraction refunded(Fraction before, Fraction refund, Fraction untouched);
    }

    private static final class TokenBucket extends Bucket {

        TokenBucket(long burst, Rate refill) {
            super(burst, refill);
            reset();
        }

        @Override
        Fraction after(Fraction before, long elapsed) {
            return before.plus(perMicro.times(Fraction.of(elapsed))).min(capacity);
        }

        @Override
        boolean hasRoom(long at, long cost) {
            return Fraction.of(cost).atMost(levelAt(at));
        }

        @Override
        boolean isWhole(long at) {
            return levelAt(at).equals(capacity);
        }

        @Override
        Fraction charged(Fraction before, Fraction cost) {
            return before.minus(cost);
        }

        /** Tokens refilled since the charge are not given back a second time. */
        @Override
        Fraction refunded(Fraction before, Fraction refund, Fraction untouched) {
            return before.plus(refund.min(capacity.minus(untouched))).min(capacity);
        }

        @Override
        void reset() {
            set(0, capacity);
        }
    }

    private static final class LeakyBucket extends Bucket {

        private final long maxWait;

        LeakyBucket(long capacity, Rate drain, long maxWait) {
            super(capacity, drain);
            this.maxWait = maxWait;
            reset();
        }

        @Override
        Fraction after(Fraction before, long elapsed) {
            return before.minus(perMicro.times(Fraction.of(elapsed))).max(Fraction.ZERO);
        }

        @Override
        boolean hasRoom(long at, long cost) {
            return levelAt(at).plus(Fraction.of(cost)).atMost(capacity) && inTime(levelAt(at));
        }

        @Override
        boolean hasRoomForSingles(long at, long number) {
            return levelAt(at).plus(Fraction.of(number)).atMost(capacity)
                    && inTime(levelAt(at).plus(Fraction.of(number - 1)));
        }

        /** Whether that much water drains within the longest wait. */
        private boolean inTime(Fraction ahead) {
            return maxWait == 0 || ahead.atMost(perMicro.times(Fraction.of(maxWait)));
        }

        @Override
        boolean isWhole(long at) {
            return levelAt(at).equals(Fraction.ZERO);
        }

        @Override
        boolean isTurn(long at) {
            return maxWait == 0 || isWhole(at);
        }

        @Override
        Fraction charged(Fraction before, Fraction cost) {
            return before.plus(cost);
        }

        /** The part that has drained since the charge is not taken out a second time. */
        @Override
        Fraction refunded(Fraction before, Fraction refund, Fraction untouched) {
            return before.minus(refund.min(untouched)).max(Fraction.ZERO);
        }

        @Override
        void reset() {
            set(0, Fraction.ZERO);
        }
    }
}
