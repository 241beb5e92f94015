package dev.ratelimit;

import java.math.BigInteger;
import java.time.Duration;

/** How a limit counts, with its numbers. */
public sealed interface Algorithm {

    /** The most that the limit can ever grant at once. */
    long capacity();

    /** The name in configuration, such as {@code fixed-window}. */
    String written();

    /** How it counts, such as {@code fixed-window of 1m}: what says the same here can go on from the other's count. */
    default String counting() {
        return written();
    }

    /** At most {@code maxRequests} in each window; the count starts anew with the next. */
    record FixedWindow(long maxRequests, Window window) implements Algorithm {
        public FixedWindow {
            Require.number("max-requests", maxRequests);
        }

        @Override
        public long capacity() {
            return maxRequests;
        }

        @Override
        public String written() {
            return "fixed-window";
        }

        @Override
        public String counting() {
            return written() + " of " + window;
        }
    }

    /** As fixed-window, but the previous window still counts, weighted by what is left of it. */
    record SlidingWindow(long maxRequests, Duration window) implements Algorithm {
        public SlidingWindow {
            Require.number("max-requests", maxRequests);
            Require.time("window", window);
        }

        @Override
        public long capacity() {
            return maxRequests;
        }

        @Override
        public String written() {
            return "sliding-window";
        }

        @Override
        public String counting() {
            return written() + " of " + Durations.text(window);
        }
    }

    /** At most {@code maxRequests} in any span as long as the window: exact, at eight bytes a request. */
    record SlidingLog(long maxRequests, Duration window) implements Algorithm {

        /** The longest log that is kept in one row. */
        public static final long MOST_REQUESTS = 10_000;

        public SlidingLog {
            Require.number("max-requests", maxRequests, MOST_REQUESTS);
            Require.time("window", window);
        }

        @Override
        public long capacity() {
            return maxRequests;
        }

        @Override
        public String written() {
            return "sliding-log";
        }

        @Override
        public String counting() {
            return written() + " of " + Durations.text(window);
        }
    }

    /** A bucket of {@code burst} tokens, refilled continuously; it starts full. */
    record TokenBucket(long burst, Rate refill) implements Algorithm {
        public TokenBucket {
            Require.number("burst", burst);
            requireUnits("burst", burst, refill);
        }

        @Override
        public long capacity() {
            return burst;
        }

        @Override
        public String written() {
            return "token-bucket";
        }
    }

    /**
     * A bucket that drains at a constant rate; it starts empty. As a meter ({@code maxWait} zero) a request that
     * finds no room is denied. As a queue, an admitted request is told how long to wait for its turn, at most
     * {@code maxWait}.
     */
    record LeakyBucket(long capacity, Rate drain, Duration maxWait) implements Algorithm {
        public LeakyBucket {
            Require.number("capacity", capacity);
            Require.timeOrZero("max-wait", maxWait);
            requireUnits("capacity", capacity, drain);
        }

        /** The queue in which exactly those requests have room whose turn comes within {@code maxWait}. */
        public static LeakyBucket queue(Rate drain, Duration maxWait) {
            Require.time("max-wait", maxWait);
            long per = Micros.of(drain.per());
            long most = Math.min(Require.MOST, Require.MOST_UNITS / per);
            BigInteger ahead = BigInteger.valueOf(Micros.of(maxWait))
                    .multiply(BigInteger.valueOf(drain.permits()))
                    .divide(BigInteger.valueOf(per));
            return new LeakyBucket(ahead.min(BigInteger.valueOf(most - 1)).longValueExact() + 1, drain, maxWait);
        }

        /** The most water, in units of one permit's microseconds, that a request may find before it. */
        public long mostAhead() {
            long full = capacity * Micros.of(drain.per());
            if (!isQueue() || Micros.of(maxWait) > full / drain.permits()) {
                return full;
            }
            return Micros.of(maxWait) * drain.permits();
        }

        public boolean isQueue() {
            return !maxWait.isZero();
        }

        @Override
        public String written() {
            return "leaky-bucket";
        }
    }

    /** A bucket counts in units of one permit's share of a microsecond: permits times microseconds must fit. */
    private static void requireUnits(String property, long permits, Rate rate) {
        if (permits > Require.MOST_UNITS / Micros.of(rate.per())) {
            throw new InvalidLimitException(
                    null,
                    property,
                    permits,
                    "write at most " + Require.MOST_UNITS / Micros.of(rate.per()) + " for the rate " + rate
                            + ", or a rate with a rounder number");
        }
    }
}
