package dev.ratelimit.store.redis;

import dev.ratelimit.support.Micros;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds the moment of a round: the earliest of the clocks of all servers that it concerns. None of them accepts a moment that
 * has not come, or one that is older than a second. So tasks whose servers differ by more are decided in different rounds, and
 * a server with a wrong clock fails no request of others. Thread-safe.
 */
final class Moments {

    /** Less than a second, since a command takes a while. */
    private static final long MOST_APART_MICROS = 900_000;

    private final IntFunction<String> nodes;
    private final ServerClocks clocks;
    private final @Nullable InstantSource given;

    /**
     * @param nodes the server that has a slot
     * @param given the clock, if it is not that of the servers
     */
    Moments(IntFunction<String> nodes, ServerClocks clocks, @Nullable InstantSource given) {
        this.nodes = nodes;
        this.clocks = clocks;
        this.given = given;
    }

    /**
     * Tasks to decide together.
     *
     * @param tasks some of the open ones, at least one
     * @param now in microseconds
     */
    record Round(List<Task> tasks, long now) {}

    /** The clocks of the servers of some tasks. */
    private record Span(long earliest, long latest) {

        Span with(Span other) {
            return new Span(Math.min(earliest, other.earliest), Math.max(latest, other.latest));
        }

        boolean isInStep() {
            return latest - earliest <= MOST_APART_MICROS;
        }
    }

    /**
     * @param open at least one task; those at the beginning are chosen first
     */
    Round next(List<Task> open) {
        if (given != null) {
            return new Round(open, Micros.of(given.instant()));
        }
        Span all = span(open);
        return all.isInStep() ? new Round(open, all.earliest) : inStep(open);
    }

    /** A task that is not even in step with itself is the last, and alone. */
    private Round inStep(List<Task> open) {
        List<Task> chosen = new ArrayList<>();
        Span span = null;
        for (Task task : open) {
            Span its = span(List.of(task));
            Span both = span == null ? its : span.with(its);
            if (both.isInStep()) {
                chosen.add(task);
                span = both;
            }
        }
        if (span != null) {
            return new Round(chosen, span.earliest);
        }
        List<Task> first = List.of(open.get(0));
        return new Round(first, span(first).earliest);
    }

    private Span span(List<Task> tasks) {
        long earliest = Long.MAX_VALUE;
        long latest = Long.MIN_VALUE;
        String last = null;
        for (Task task : tasks) {
            for (Row row : task.rows()) {
                String node = nodes.apply(row.slot);
                if (!node.equals(last)) {
                    long now = clocks.now(node);
                    earliest = Math.min(earliest, now);
                    latest = Math.max(latest, now);
                    last = node;
                }
            }
        }
        return new Span(earliest, latest);
    }
}
