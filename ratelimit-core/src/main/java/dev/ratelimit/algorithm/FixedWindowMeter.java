package dev.ratelimit.algorithm;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Micros;
import dev.ratelimit.Window;

final class FixedWindowMeter extends Meter {

    private final String name;
    private final long max;
    private final Window window;

    FixedWindowMeter(Algorithm.FixedWindow algorithm) {
        this.name = algorithm.written();
        this.max = algorithm.maxRequests();
        this.window = algorithm.window();
    }

    @Override
    State roll(State state, long now) {
        long start;
        long size;
        if (window instanceof Window.Span span) {
            size = Micros.of(span.length());
            start = now - Math.floorMod(now, size);
        } else {
            Window.Calendar calendar = (Window.Calendar) window;
            start = CalendarWindows.startOf(calendar, now);
            size = CalendarWindows.startAfter(calendar, start) - start;
        }
        return state.window(name, start, size, state.last() >= start ? state.count() : 0, 0);
    }

    @Override
    long availableAt(State state, long now, long cost) {
        return state.count() <= max - cost ? now : end(state);
    }

    @Override
    State charge(State state, long now, long cost) {
        return counted(state, state.count() + cost);
    }

    @Override
    State uncharge(State state, long now, long cost) {
        return counted(state, state.count() - cost);
    }

    @Override
    State settle(State state, long now, Charge charge, long cost) {
        return charge.at() < state.windowStart() ? state : counted(state, state.count() - charge.cost() + cost);
    }

    private State counted(State state, long count) {
        return state.window(name, state.windowStart(), state.windowSize(), Math.max(0, Math.min(MOST, count)), 0);
    }

    @Override
    long remaining(State state, long now) {
        return Math.max(0, max - state.count());
    }

    @Override
    long resetAt(State state, long now) {
        return state.count() == 0 ? now : end(state);
    }

    private static long end(State state) {
        return state.windowStart() + state.windowSize();
    }
}
