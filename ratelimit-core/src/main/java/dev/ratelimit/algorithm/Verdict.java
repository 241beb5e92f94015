package dev.ratelimit.algorithm;

import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;
import dev.ratelimit.support.Micros;

/**
 * The answer of one limit to one request. Times are microseconds since the epoch. It is flat, with the parts of its charge, since every
 * decision makes one for each of its limits.
 *
 * @param outcome whether this limit has room, whatever the other limits of the request say
 * @param remaining how much it would still grant after this
 * @param resetAt when it is whole again, absent other traffic
 * @param availableAt when it has room for the same request, absent other traffic; not later than now if it has
 * @param delay how long an admitted request waits for its turn
 * @param penaltyUntil the end of the penalty that the subject is under after this; zero if none
 * @param violations how many violations of the limit are counted after a denial, its own included, if it is one; zero if the limit
 *     has room or counts none
 * @param at when the request was charged, by the clock of the row
 * @param cost how much was charged, if it was: see {@link #charge()}
 * @param tokens the level of a bucket after this, in units
 */
public record Verdict(
        Outcome outcome,
        long remaining,
        long resetAt,
        long availableAt,
        long delay,
        long penaltyUntil,
        long violations,
        long at,
        long cost,
        long tokens) {

    public Verdict(
            Outcome outcome,
            long remaining,
            long resetAt,
            long availableAt,
            long delay,
            long penaltyUntil,
            Charge charge) {
        this(
                outcome,
                remaining,
                resetAt,
                availableAt,
                delay,
                penaltyUntil,
                0,
                charge.at(),
                charge.cost(),
                charge.tokens());
    }

    /** The same denial, after so many violations. */
    public Verdict counted(long number) {
        return new Verdict(outcome, remaining, resetAt, availableAt, delay, penaltyUntil, number, at, cost, tokens);
    }

    /** The charge, for a later settlement; meaningful only if the request was charged. */
    public Charge charge() {
        return new Charge(at, cost, tokens);
    }

    public boolean allowed() {
        return outcome == Outcome.ALLOWED;
    }

    /**
     * The state of the subject as far as this answer tells: it never grants more than the true one.
     *
     * @param now when the answer was given
     */
    public State state(Limit limit, long now) {
        CountingAlgorithm algorithm = CountingAlgorithm.of(limit);
        Count count = algorithm.known(this, now);
        long allowed = allowed() ? now : Math.max(0, availableAt - Micros.of(limit.minInterval()));
        return new State(
                algorithm.name(), count, limit.capacity(), penaltyUntil, now, limit.hasMinInterval() ? allowed : 0, 0);
    }
}
