package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Micros;

/** What was charged at a moment counts until a window later, that moment excluded. */
final class SlidingLogMeter extends Meter {

    private final String name;
    private final long max;
    private final long size;

    SlidingLogMeter(Algorithm.SlidingLog algorithm) {
        this.name = algorithm.written();
        this.max = algorithm.maxRequests();
        this.size = Micros.of(algorithm.window());
    }

    @Override
    State roll(State state, long now) {
        return state.log(name, now, size, state.log().after(now - size));
    }

    @Override
    long availableAt(State state, long now, long cost) {
        long over = state.log().size() + cost - max;
        return over <= 0 ? now : state.log().get((int) over - 1) + size;
    }

    @Override
    State charge(State state, long now, long cost) {
        return state.log(name, now, size, state.log().with(now, (int) cost));
    }

    @Override
    State uncharge(State state, long now, long cost) {
        return state.log(name, now, size, state.log().without(now, cost));
    }

    @Override
    State settle(State state, long now, Charge charge, long cost) {
        if (charge.at() <= now - size) {
            return state;
        }
        if (cost <= charge.cost()) {
            return state.log(name, now, size, state.log().without(charge.at(), charge.cost() - cost));
        }
        // A log of twice the limit already denies for a whole window: it need not grow further.
        long room = Math.max(0, 2 * max - state.log().size());
        return state.log(name, now, size, state.log().with(charge.at(), (int) Math.min(room, cost - charge.cost())));
    }

    @Override
    long remaining(State state, long now) {
        return Math.max(0, max - state.log().size());
    }

    @Override
    long resetAt(State state, long now) {
        return state.log().size() == 0 ? now : state.log().newest() + size;
    }
}
