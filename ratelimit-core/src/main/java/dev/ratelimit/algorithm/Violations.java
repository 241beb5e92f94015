package dev.ratelimit.algorithm;

import dev.ratelimit.Penalties;
import dev.ratelimit.support.Micros;

/**
 * How often a subject has violated a limit: a row of {@code rate_limit_penalties}. Times are microseconds.
 *
 * @param penaltyUntil the end of the latest penalty, past or not; zero if there was none yet
 * @param penaltyDuration how long the latest penalty is; zero if there was none yet
 * @param forgetAt when the count starts anew if no violation comes before
 */
public record Violations(long count, long lastAt, long penaltyUntil, long penaltyDuration, long forgetAt) {

    public static final Violations NONE = new Violations(0, 0, 0, 0, 0);

    public boolean isNone() {
        return count == 0;
    }

    /** How many of them still count at that moment. */
    long countAt(long now) {
        return now < forgetAt ? count : 0;
    }

    /** One more violation, at that moment. */
    Violations next(Penalties penalties, long now) {
        long forgetAfter = Micros.of(penalties.forgetAfter());
        boolean forgotten = now - lastAt >= forgetAfter;
        long counted = forgotten ? 1 : Math.min(CountingAlgorithm.MOST, count + 1);
        long block = Micros.of(penalties.blockFor(counted));
        return new Violations(
                counted,
                now,
                block > 0 ? now + block : forgotten ? 0 : penaltyUntil,
                block > 0 ? block : forgotten ? 0 : penaltyDuration,
                Math.max(now + block, now + forgetAfter));
    }

    /** Whether this violation began a penalty. */
    public boolean penalized() {
        return penaltyDuration > 0 && penaltyUntil == lastAt + penaltyDuration;
    }
}
