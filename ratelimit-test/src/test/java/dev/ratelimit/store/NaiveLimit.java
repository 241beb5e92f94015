package dev.ratelimit.store;

import dev.ratelimit.Limit;
import dev.ratelimit.Outcome;
import dev.ratelimit.Penalties;
import dev.ratelimit.support.Micros;
import org.jspecify.annotations.Nullable;

/** The meaning of a limit: its algorithm, the least time between two requests, and penalties. */
final class NaiveLimit {

    private final NaiveAlgorithm algorithm;
    private final long minInterval;
    private final Penalties penalties;
    private @Nullable Long lastAllowed;
    private @Nullable Long lastViolation;
    private long violations;
    private long blockedUntil;

    NaiveLimit(Limit limit) {
        this.algorithm = NaiveAlgorithm.of(limit.algorithm());
        this.minInterval = Micros.of(limit.minInterval());
        this.penalties = limit.penalties();
    }

    NaiveAlgorithm algorithm() {
        return algorithm;
    }

    long blockedUntil() {
        return blockedUntil;
    }

    boolean admits(long at, long cost) {
        return at >= blockedUntil
                && (lastAllowed == null || at - lastAllowed >= minInterval)
                && algorithm.hasRoom(at, cost);
    }

    Outcome outcome(long at, long cost) {
        return at < blockedUntil ? Outcome.BLOCKED : admits(at, cost) ? Outcome.ALLOWED : Outcome.THROTTLED;
    }

    NaiveAlgorithm.Admitted admit(long at, long cost) {
        lastAllowed = at;
        return algorithm.admit(at, cost);
    }

    /** Counts a request that was throttled, which may begin a penalty. */
    void violate(long at) {
        boolean forgotten = lastViolation == null || at - lastViolation >= Micros.of(penalties.forgetAfter());
        violations = forgotten ? 1 : violations + 1;
        lastViolation = at;
        for (Penalties.Step tier : penalties.steps()) {
            if (violations >= tier.after()) {
                blockedUntil = at + Micros.of(tier.block());
            }
        }
    }

    void reset() {
        algorithm.reset();
        lastAllowed = null;
        lastViolation = null;
        violations = 0;
        blockedUntil = 0;
    }
}
