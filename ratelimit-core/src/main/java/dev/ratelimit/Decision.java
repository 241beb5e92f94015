package dev.ratelimit;

import dev.ratelimit.support.Micros;
import dev.ratelimit.support.Seconds;
import dev.ratelimit.support.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer for one request over all its limits.
 *
 * @param outcome how it came out
 * @param allowed whether the request may pass; with an outcome that no limit decided, the answer of the failure policy
 * @param atMicros when it was decided, by the clock of the store: see {@link #at()}
 * @param limits the answer of each limit, in the order of the request; empty if no limit decided. A request that is denied
 *     without asking the store again shows only the limits that are known to deny it
 * @param retryAfter how long a denied client should wait: the longest that any of the limits asks for, exact, but
 *     never less than the floor of the request and of the limits that deny it; zero if allowed
 * @param failure why the store did not decide, or {@code null}
 */
public record Decision(
        Outcome outcome,
        boolean allowed,
        long atMicros,
        List<LimitDecision> limits,
        Duration retryAfter,
        @Nullable Throwable failure) {

    public Decision {
        limits = List.copyOf(limits);
    }

    /**
     * The decision that follows from the answers of all limits: the strictest outcome, and the longest wait.
     *
     * @param floor the least retry-after of a denied request
     * @param failure why the store did not decide, or {@code null}
     */
    public static Decision of(long atMicros, List<LimitDecision> limits, Duration floor, @Nullable Throwable failure) {
        Outcome outcome = Outcome.ALLOWED;
        Duration wait = floor;
        for (int i = 0; i < limits.size(); i++) {
            LimitDecision one = limits.get(i);
            outcome = one.outcome().compareTo(outcome) > 0 ? one.outcome() : outcome;
            wait = longer(wait, one.retryAfter());
            wait = one.allowed() ? wait : longer(wait, one.limit().retryAfter());
        }
        boolean allowed = outcome == Outcome.ALLOWED;
        return new Decision(outcome, allowed, atMicros, limits, allowed ? Duration.ZERO : wait, failure);
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? other : one;
    }

    /** When it was decided, by the clock of the store. */
    public Instant at() {
        return Micros.toInstant(atMicros);
    }

    /** Whether this instance decided on its own, since the store was unavailable. */
    public boolean local() {
        return failure != null && outcome.isDecided();
    }

    /** The answer of the limit with the least room: one that denied, else the one with the least remaining. */
    public @Nullable LimitDecision tightest() {
        return LimitDecision.tightest(limits);
    }

    /** How much remains of the tightest limit; {@link Long#MAX_VALUE} if no limit decided. */
    public long remaining() {
        LimitDecision tightest = tightest();
        return tightest == null ? Long.MAX_VALUE : tightest.remaining();
    }

    /**
     * The seconds for a {@code Retry-After} header: rounded up, and at least one if the request was denied. Zero if it was
     * allowed, or if waiting does not help: see {@link #isForever()}.
     */
    public long retryAfterSeconds() {
        return allowed || isForever() ? 0 : Math.max(1, Seconds.roundedUp(retryAfter));
    }

    /** How long an allowed request must wait for its turn; zero except in a leaky bucket with {@code max-wait}. */
    public Duration delay() {
        Duration delay = Duration.ZERO;
        for (LimitDecision limit : limits) {
            if (limit.delay().compareTo(delay) > 0) {
                delay = limit.delay();
            }
        }
        return delay;
    }

    /**
     * Waits for the turn of an allowed request: for {@link #delay()}, mostly not at all.
     *
     * @throws IllegalStateException if the thread is interrupted; it stays interrupted
     */
    public void awaitTurn() {
        Turn.await(delay());
    }

    /** Whether the request met or brought about a penalty without an end, so that waiting does not help. */
    public boolean isForever() {
        Instant until = penaltyUntil();
        return until != null && Penalties.isForever(Duration.between(at(), until));
    }

    /** The end of the longest penalty that the request met or brought about, or {@code null}. */
    public @Nullable Instant penaltyUntil() {
        Instant until = null;
        for (LimitDecision limit : limits) {
            Instant penalty = limit.penaltyUntil();
            if (penalty != null && (until == null || penalty.isAfter(until))) {
                until = penalty;
            }
        }
        return until;
    }
}
