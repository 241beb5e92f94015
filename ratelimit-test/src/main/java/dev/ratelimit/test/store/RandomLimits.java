package dev.ratelimit.test.store;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Limit;
import dev.ratelimit.Rate;
import dev.ratelimit.Window;
import dev.ratelimit.Window.CalendarUnit;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.random.RandomGenerator;

/** Limits of every algorithm: mostly small numbers, which are used up soon, and some that are as large as allowed. */
public final class RandomLimits {

    public enum Kind {
        FIXED_SPAN,
        FIXED_CALENDAR,
        SLIDING_WINDOW,
        SLIDING_LOG,
        TOKEN_BUCKET,
        LEAKY_METER,
        LEAKY_QUEUE
    }

    /** Zones whose clocks change at midnight, by half an hour, on the southern summer, or never. */
    public static final List<ZoneId> ZONES = List.of(
            ZoneId.of("UTC"),
            ZoneId.of("Europe/Berlin"),
            ZoneId.of("America/New_York"),
            ZoneId.of("Asia/Kolkata"),
            ZoneId.of("America/Havana"),
            ZoneId.of("Africa/Cairo"),
            ZoneId.of("Australia/Lord_Howe"));

    private static final long MOST_REQUESTS = 1_000_000_000_000L;
    private static final Duration LONGEST = Duration.ofDays(3660);
    private static final long MOST_UNITS = 1L << 61;

    private static final long[] SPANS = {
        1, 2, 7, 1000, 999_999, 1_000_000, 1_000_001, 7_000_000, 60_000_000, 3_600_000_000L, 86_400_000_000L
    };

    private final RandomGenerator random;
    private final long longestLog;

    /**
     * @param longestLog the most requests of a sliding log
     */
    public RandomLimits(RandomGenerator random, long longestLog) {
        this.random = random;
        this.longestLog = longestLog;
    }

    public Limit next(String name, Kind kind) {
        boolean huge = random.nextInt(8) == 0;
        Algorithm algorithm = algorithm(kind, huge);
        Limit.Builder limit = Limit.named(name).algorithm(algorithm);
        if (kind != Kind.LEAKY_QUEUE && random.nextInt(4) == 0) {
            limit.minInterval(
                    Micros.toDuration(1 + random.nextLong(Math.min(2 * scale(algorithm), Micros.of(LONGEST)))));
        }
        if (random.nextInt(3) == 0) {
            long after = 0;
            for (int steps = 1 + random.nextInt(3); steps > 0; steps--) {
                after += 1 + random.nextInt(4);
                limit.penalty(after, penaltyTime(algorithm));
            }
            limit.forgetAfter(penaltyTime(algorithm).multipliedBy(3));
        }
        return limit.build();
    }

    /** A cost that the limit can grant: often one, often all of it. */
    public long cost(Limit limit) {
        return switch (random.nextInt(8)) {
            case 0 -> limit.capacity();
            case 1 -> 1 + random.nextLong(limit.capacity());
            case 2, 3 -> 1 + random.nextLong(Math.min(5, limit.capacity()));
            default -> 1;
        };
    }

    /** About how long it takes until a limit has changed visibly, in microseconds. */
    public static long scale(Algorithm algorithm) {
        if (algorithm instanceof FixedWindow fixed) {
            if (fixed.alignment() instanceof Window.Span span) {
                return Micros.of(span.length());
            }
            long hours = switch (((Window.Calendar) fixed.alignment()).unit()) {
                case HOUR -> 1;
                case DAY -> 24;
                case WEEK -> 7 * 24;
                case MONTH -> 30 * 24;
            };
            return Micros.of(Duration.ofHours(hours));
        }
        if (algorithm instanceof SlidingWindow sliding) {
            return Micros.of(sliding.window());
        }
        if (algorithm instanceof SlidingLog sliding) {
            return Micros.of(sliding.window());
        }
        Rate rate = algorithm instanceof TokenBucket bucket ? bucket.refill() : ((LeakyBucket) algorithm).drain();
        return Micros.of(rate.per());
    }

    private Algorithm algorithm(Kind kind, boolean huge) {
        return switch (kind) {
            case FIXED_SPAN -> new FixedWindow(requests(huge), Window.of(span(huge)));
            case FIXED_CALENDAR ->
                new FixedWindow(
                        requests(huge),
                        Window.of(pick(CalendarUnit.values()), ZONES.get(random.nextInt(ZONES.size()))));
            case SLIDING_WINDOW -> new SlidingWindow(requests(huge), span(huge));
            case SLIDING_LOG -> new SlidingLog(Math.min(requests(huge), longestLog), span(huge));
            case TOKEN_BUCKET -> {
                Rate rate = rate(huge);
                yield new TokenBucket(permits(rate, huge), rate);
            }
            case LEAKY_METER -> {
                Rate rate = rate(huge);
                yield new LeakyBucket(permits(rate, huge), rate, Duration.ZERO);
            }
            case LEAKY_QUEUE -> {
                Rate rate = rate(huge);
                long permits = permits(rate, huge);
                Duration maxWait = Micros.toDuration(Math.min(
                        Micros.of(LONGEST), 1 + random.nextLong(1 + permits * Micros.of(rate.per()) / rate.permits())));
                yield fitsQueue(rate, maxWait) && random.nextBoolean()
                        ? LeakyBucket.queue(rate, maxWait)
                        : new LeakyBucket(permits, rate, maxWait);
            }
        };
    }

    private static boolean fitsQueue(Rate rate, Duration maxWait) {
        return Math.multiplyHigh(Micros.of(maxWait), rate.permits()) == 0
                && Micros.of(maxWait) * rate.permits() >= 0
                && Micros.of(maxWait) * rate.permits() < MOST_UNITS - 2 * Micros.of(rate.per());
    }

    private long requests(boolean huge) {
        return huge ? MOST_REQUESTS - random.nextInt(3) : 1 + random.nextInt(20);
    }

    private Duration span(boolean huge) {
        if (huge) {
            return LONGEST.minus(Micros.toDuration(random.nextInt(3)));
        }
        return Micros.toDuration(
                random.nextBoolean() ? SPANS[random.nextInt(SPANS.length)] : 1 + random.nextLong(100_000_000));
    }

    private Rate rate(boolean huge) {
        if (!huge) {
            return Rate.of(1 + random.nextInt(20), span(false));
        }
        return random.nextBoolean()
                ? Rate.of(requests(true), span(random.nextBoolean()))
                : Rate.of(requests(false), span(true));
    }

    /** As many permits as a bucket of this rate may hold, or a few. */
    private long permits(Rate rate, boolean huge) {
        long most = Math.min(MOST_REQUESTS, MOST_UNITS / Micros.of(rate.per()));
        return huge ? most - random.nextLong(Math.min(3, most)) : Math.min(most, requests(false));
    }

    private Duration penaltyTime(Algorithm algorithm) {
        long most = Math.min(scale(algorithm), Micros.of(Duration.ofDays(300)));
        return Micros.toDuration(random.nextBoolean() ? 1 + random.nextLong(2 * most) : 1 + random.nextLong(3_000_000));
    }

    private <T> T pick(T[] values) {
        return values[random.nextInt(values.length)];
    }
}
