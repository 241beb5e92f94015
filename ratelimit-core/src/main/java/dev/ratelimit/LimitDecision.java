package dev.ratelimit;

import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer of one limit to a request. It is one flat value, since every decision makes one for each of its limits.
 *
 * @param rule the name of the rule that brought the limit in, or {@code null}
 * @param outcome {@code ALLOWED} if this limit had room, even where another limit denied the request
 * @param remaining how much the limit would still grant right after this decision; zero under a penalty
 * @param resetAtMicros when the limit is whole again, absent other traffic: see {@link #resetAt()}
 * @param waitTime how long to wait: see {@link #retryAfter()} and {@link #delay()}
 * @param penaltyUntil the end of the penalty that the subject is under after this decision, or {@code null}
 * @param violations how many violations of this limit the subject has, after a denial; this one included, unless it was only a peek.
 *     During a penalty, those that brought it about; of a decision without the store, those that this instance knows of. Zero if the
 *     limit had room, or has no penalties
 * @param approximate whether {@code remaining} and {@code resetAtMicros} are estimates: the request was served from a lease,
 *     and only the store knows what other instances have taken
 */
public record LimitDecision(
        Subject subject,
        Limit limit,
        @Nullable String rule,
        Outcome outcome,
        long remaining,
        long resetAtMicros,
        Duration waitTime,
        @Nullable Instant penaltyUntil,
        long violations,
        boolean approximate) {

    /** How long to wait until this limit has room for the same request, absent other traffic: exact; zero if it had. */
    public Duration retryAfter() {
        return allowed() ? Duration.ZERO : waitTime;
    }

    /** How long an allowed request must wait for its turn in a leaky bucket with {@code max-wait}; else zero. */
    public Duration delay() {
        return allowed() ? waitTime : Duration.ZERO;
    }

    /** When the limit is whole again, absent other traffic. */
    public Instant resetAt() {
        return Micros.toInstant(resetAtMicros);
    }

    /** Whether it answers for the limit of that name and the subject. */
    public boolean isOf(Subject asked, String limitName) {
        return subject.equals(asked) && limit.name().equals(limitName);
    }

    public boolean allowed() {
        return outcome == Outcome.ALLOWED;
    }

    /** The one with the least room: first those that denied, then the least that remains; {@code null} of none. */
    public static @Nullable LimitDecision tightest(List<LimitDecision> limits) {
        LimitDecision tightest = null;
        for (LimitDecision limit : limits) {
            if (tightest == null || limit.isTighterThan(tightest)) {
                tightest = limit;
            }
        }
        return tightest;
    }

    private boolean isTighterThan(LimitDecision other) {
        int byWait = retryAfter().compareTo(other.retryAfter());
        return byWait != 0 ? byWait > 0 : remaining < other.remaining;
    }
}
