package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Micros;

/** The token bucket upside down, in the same units: water drains, and a request pours in. */
final class LeakyBucketMeter extends Meter {

    private final String name;
    private final long unitsPerPermit;
    private final long unitsPerMicro;
    private final long full;

    /** The most water that a queued request may find before it; all that fits if the bucket is a meter. */
    private final long mostAhead;

    private final boolean queue;

    LeakyBucketMeter(Algorithm.LeakyBucket algorithm) {
        this.name = algorithm.written();
        this.unitsPerPermit = Micros.of(algorithm.drain().per());
        this.unitsPerMicro = algorithm.drain().permits();
        this.full = algorithm.capacity() * unitsPerPermit;
        this.mostAhead = algorithm.mostAhead();
        this.queue = algorithm.isQueue();
    }

    @Override
    State roll(State state, long now) {
        return state.bucket(name, now, unitsPerPermit, state.isFresh() ? 0 : drained(water(state), now - state.last()));
    }

    /** The water in the units of this limit, rounded up where the rate has changed. */
    private long water(State state) {
        return state.windowSize() == unitsPerPermit
                ? state.tokens()
                : Math.min(MOST, Exact.ceilingOfProduct(state.tokens(), unitsPerPermit, state.windowSize()));
    }

    private long drained(long water, long elapsed) {
        return elapsed >= Exact.ceilDiv(water, unitsPerMicro) ? 0 : water - elapsed * unitsPerMicro;
    }

    @Override
    long availableAt(State state, long now, long cost) {
        long over = Math.max(state.tokens() + cost * unitsPerPermit - full, state.tokens() - mostAhead);
        return over <= 0 ? now : now + Exact.ceilDiv(over, unitsPerMicro);
    }

    @Override
    long delay(State state) {
        return queue ? Exact.ceilDiv(state.tokens(), unitsPerMicro) : 0;
    }

    @Override
    State charge(State state, long now, long cost) {
        return state.bucket(name, now, unitsPerPermit, state.tokens() + cost * unitsPerPermit);
    }

    @Override
    State uncharge(State state, long now, long cost) {
        return charge(state, now, -cost);
    }

    /** A refund takes out what of the charge is still in the bucket. */
    @Override
    State settle(State state, long now, Charge charge, long cost) {
        long water = state.tokens();
        if (cost <= charge.cost()) {
            long left = drained(charge.tokens(), Math.max(0, now - charge.at()));
            water = Math.max(0, water - Math.min(Exact.product(charge.cost() - cost, unitsPerPermit), left));
        } else {
            water = Math.min(MOST, water + (cost - charge.cost()) * unitsPerPermit);
        }
        return state.bucket(name, now, unitsPerPermit, water);
    }

    @Override
    long remaining(State state, long now) {
        long roomFor = (full - state.tokens()) / unitsPerPermit;
        if (queue) {
            long ahead = mostAhead - state.tokens();
            roomFor = Math.min(roomFor, ahead < 0 ? 0 : ahead / unitsPerPermit + 1);
        }
        return Math.max(0, roomFor);
    }

    @Override
    long resetAt(State state, long now) {
        return now + Exact.ceilDiv(state.tokens(), unitsPerMicro);
    }
}
