package dev.ratelimit.algorithm;

import dev.ratelimit.Outcome;

/**
 * The answer of one limit to one request. Times are microseconds since the epoch.
 *
 * @param outcome whether this limit has room, whatever the other limits of the request say
 * @param remaining how much it would still grant after this
 * @param resetAt when it is whole again, absent other traffic
 * @param availableAt when it has room for the same request, absent other traffic; not later than now if it has
 * @param delay how long an admitted request waits for its turn
 * @param penaltyUntil the end of the penalty that the subject is under after this; zero if none
 * @param charge for a later settlement, if the request was charged
 */
public record Verdict(
        Outcome outcome, long remaining, long resetAt, long availableAt, long delay, long penaltyUntil, Charge charge) {

    public boolean allowed() {
        return outcome == Outcome.ALLOWED;
    }
}
