package dev.ratelimit.web;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Decision;
import dev.ratelimit.LimitDecision;
import dev.ratelimit.Micros;
import dev.ratelimit.Rate;
import dev.ratelimit.Window;
import java.time.Duration;
import java.util.Objects;

/** Says to a person why a request was denied and when to come back. */
final class Sentences {

    private Sentences() {}

    static String detail(Rejection rejection) {
        long seconds = rejection.retryAfterSeconds();
        String again = seconds == 0 ? "" : " Try again in " + time(Duration.ofSeconds(seconds)) + ".";
        return switch (rejection.reason()) {
            case LIMITED, UNAVAILABLE -> reason(Objects.requireNonNull(rejection.decision())) + again;
            case BLOCKED -> "Requests like this one are blocked." + again;
            case UNKNOWN_API_KEY -> "The API key is not known, has expired or was revoked.";
        };
    }

    private static String reason(Decision decision) {
        LimitDecision limit = decision.tightest();
        if (limit == null) {
            return "Requests cannot be counted at the moment.";
        }
        if (decision.penaltyUntil() != null) {
            return "Too many requests were made too often.";
        }
        if (limit.limit().hasMinInterval() && limit.remaining() > 0) {
            return "Requests must be at least " + time(limit.limit().minInterval()) + " apart.";
        }
        Algorithm algorithm = limit.limit().algorithm();
        if (algorithm instanceof Algorithm.TokenBucket bucket) {
            return "Tokens refill at " + rate(bucket.refill()) + ".";
        }
        if (algorithm instanceof Algorithm.LeakyBucket bucket) {
            return "Requests are served at " + rate(bucket.drain()) + ".";
        }
        return "At most " + count(limit.limit().capacity(), "request") + " " + span(algorithm) + ".";
    }

    private static String rate(Rate rate) {
        return rate.permits() + " per " + unit(rate.per());
    }

    private static String span(Algorithm algorithm) {
        if (algorithm instanceof Algorithm.FixedWindow fixed && fixed.window() instanceof Window.Calendar calendar) {
            return "per " + calendar.unit().written();
        }
        return "per " + unit(window(algorithm));
    }

    /** The length of the window; of a calendar's, its usual length; of a bucket, the time in which it is whole again. */
    static Duration window(Algorithm algorithm) {
        if (algorithm instanceof Algorithm.SlidingWindow sliding) {
            return sliding.window();
        }
        if (algorithm instanceof Algorithm.SlidingLog log) {
            return log.window();
        }
        if (algorithm instanceof Algorithm.TokenBucket bucket) {
            return whole(bucket.burst(), bucket.refill());
        }
        if (algorithm instanceof Algorithm.LeakyBucket bucket) {
            return whole(bucket.capacity(), bucket.drain());
        }
        Window window = ((Algorithm.FixedWindow) algorithm).window();
        if (window instanceof Window.Calendar calendar) {
            return switch (calendar.unit()) {
                case HOUR -> Duration.ofHours(1);
                case DAY -> Duration.ofDays(1);
                case WEEK -> Duration.ofDays(7);
                case MONTH -> Duration.ofDays(30);
            };
        }
        return ((Window.Span) window).length();
    }

    private static Duration whole(long permits, Rate rate) {
        return Micros.toDuration(Math.floorDiv(permits * Micros.of(rate.per()), rate.permits()));
    }

    /** "minute" for one of them, "15 minutes" for more. */
    private static String unit(Duration time) {
        String text = time(time);
        return text.startsWith("1 ") ? text.substring(2) : text;
    }

    static String time(Duration time) {
        if (time.toNanosPart() != 0 || time.isZero()) {
            return time.toMillis() + " milliseconds";
        }
        long seconds = time.toSeconds();
        if (seconds % 86_400 == 0) {
            return count(seconds / 86_400, "day");
        }
        if (seconds % 3_600 == 0) {
            return count(seconds / 3_600, "hour");
        }
        return seconds % 60 == 0 ? count(seconds / 60, "minute") : count(seconds, "second");
    }

    private static String count(long number, String thing) {
        return number + " " + thing + (number == 1 ? "" : "s");
    }
}
