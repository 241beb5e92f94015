package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Micros;

/**
 * With a refill of {@code p} permits in {@code P} microseconds, a permit is {@code P} units and a microsecond brings
 * {@code p}: nothing is ever rounded.
 */
final class TokenBucketMeter extends Meter {

    private final String name;
    private final long unitsPerPermit;
    private final long unitsPerMicro;
    private final long full;

    TokenBucketMeter(Algorithm.TokenBucket algorithm) {
        this.name = algorithm.written();
        this.unitsPerPermit = Micros.of(algorithm.refill().per());
        this.unitsPerMicro = algorithm.refill().permits();
        this.full = algorithm.burst() * unitsPerPermit;
    }

    @Override
    State roll(State state, long now) {
        return state.bucket(
                name, now, unitsPerPermit, state.isFresh() ? full : refilled(level(state), now - state.last()));
    }

    /** What the bucket held, in the units of this limit, rounded down where the rate has changed. */
    private long level(State state) {
        if (state.windowSize() == unitsPerPermit) {
            return Math.min(full, state.tokens());
        }
        return state.tokens() >= 0
                ? Math.min(full, Exact.floorOfProduct(state.tokens(), unitsPerPermit, state.windowSize()))
                : -Math.min(MOST, Exact.ceilingOfProduct(-state.tokens(), unitsPerPermit, state.windowSize()));
    }

    private long refilled(long level, long elapsed) {
        return elapsed >= Exact.ceilDiv(full - level, unitsPerMicro) ? full : level + elapsed * unitsPerMicro;
    }

    @Override
    long availableAt(State state, long now, long cost) {
        long missing = cost * unitsPerPermit - state.tokens();
        return missing <= 0 ? now : now + Exact.ceilDiv(missing, unitsPerMicro);
    }

    @Override
    State charge(State state, long now, long cost) {
        return state.bucket(name, now, unitsPerPermit, state.tokens() - cost * unitsPerPermit);
    }

    @Override
    State uncharge(State state, long now, long cost) {
        return charge(state, now, -cost);
    }

    /**
     * A refund gives back what of the charge the bucket still lacks: had it been without the charge, it would have run
     * over as soon as it was full. That is known from what it held after the charge and the time since then.
     */
    @Override
    State settle(State state, long now, Charge charge, long cost) {
        long level = state.tokens();
        if (cost <= charge.cost()) {
            long lacking = full - refilled(charge.tokens(), Math.max(0, now - charge.at()));
            level = Math.min(full, level + Math.min(Exact.product(charge.cost() - cost, unitsPerPermit), lacking));
        } else {
            level = Math.max(-MOST, level - (cost - charge.cost()) * unitsPerPermit);
        }
        return state.bucket(name, now, unitsPerPermit, level);
    }

    @Override
    long remaining(State state, long now) {
        return Math.max(0, state.tokens() / unitsPerPermit);
    }

    @Override
    long resetAt(State state, long now) {
        return now + Exact.ceilDiv(full - state.tokens(), unitsPerMicro);
    }
}
