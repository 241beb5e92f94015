package dev.ratelimit.algorithm;

import dev.ratelimit.Window;
import dev.ratelimit.setting.Durations;
import dev.ratelimit.setting.Require;
import java.time.Duration;

/** An algorithm with {@code max-requests} per {@code window}. */
abstract class WindowAlgorithm extends CountingAlgorithm {

    final long max;
    final Window window;

    /**
     * @param most the largest {@code maxRequests} of the algorithm
     */
    WindowAlgorithm(AlgorithmType type, long maxRequests, long most, Window window) {
        super(type, maxRequests + " per " + window);
        Require.number("max-requests", maxRequests, most);
        this.max = maxRequests;
        this.window = window;
    }

    public final long maxRequests() {
        return max;
    }

    @Override
    public final long capacity() {
        return max;
    }

    @Override
    public final String counting() {
        return name() + " of " + window;
    }

    @Override
    public final Duration window() {
        return window.usualLength();
    }

    @Override
    public final String sentence() {
        return "At most " + Durations.count(max, "request") + " per " + window.spoken() + ".";
    }
}
