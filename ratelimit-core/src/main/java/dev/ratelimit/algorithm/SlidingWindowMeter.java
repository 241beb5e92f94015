package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Micros;

/**
 * Two windows: of the previous one that share still counts which the window of this length before now overlaps. With
 * {@code e} of the window's length {@code W} gone, {@code n} more have room if
 * {@code previous * (W - e) + (count + n) * W <= max * W}.
 */
final class SlidingWindowMeter extends Meter {

    private final String name;
    private final long max;
    private final long size;

    SlidingWindowMeter(Algorithm.SlidingWindow algorithm) {
        this.name = algorithm.written();
        this.max = algorithm.maxRequests();
        this.size = Micros.of(algorithm.window());
    }

    @Override
    State roll(State state, long now) {
        long start = now - Math.floorMod(now, size);
        if (state.last() >= start) {
            return state.window(name, start, size, state.count(), state.previous());
        }
        return state.window(name, start, size, 0, state.last() >= start - size ? state.count() : 0);
    }

    @Override
    long availableAt(State state, long now, long cost) {
        long start = state.windowStart();
        long room = max - state.count() - cost;
        if (room >= 0) {
            return Math.max(now, start + drained(state.previous(), room));
        }
        return start + size + drained(state.count(), max - cost);
    }

    /** How far into a window the one before it has faded to the room that there is. */
    private long drained(long previous, long room) {
        return previous <= room ? 0 : size - Exact.floorOfProduct(room, size, previous);
    }

    @Override
    State charge(State state, long now, long cost) {
        return counted(state, state.count() + cost, state.previous());
    }

    @Override
    State uncharge(State state, long now, long cost) {
        return counted(state, state.count() - cost, state.previous());
    }

    @Override
    State settle(State state, long now, Charge charge, long cost) {
        long difference = cost - charge.cost();
        if (charge.at() >= state.windowStart()) {
            return counted(state, state.count() + difference, state.previous());
        }
        if (charge.at() >= state.windowStart() - size) {
            return counted(state, state.count(), state.previous() + difference);
        }
        return state;
    }

    private State counted(State state, long count, long previous) {
        return state.window(
                name,
                state.windowStart(),
                size,
                Math.max(0, Math.min(MOST, count)),
                Math.max(0, Math.min(MOST, previous)));
    }

    @Override
    long remaining(State state, long now) {
        long left = size - (now - state.windowStart());
        return Math.max(0, max - state.count() - Exact.ceilingOfProduct(state.previous(), left, size));
    }

    @Override
    long resetAt(State state, long now) {
        if (state.count() > 0) {
            return state.windowStart() + 2 * size;
        }
        return state.previous() > 0 ? state.windowStart() + size : now;
    }
}
