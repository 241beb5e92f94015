package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.Algorithm;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.support.Micros;
import java.util.List;

/** A row of the window before counts as the previous one. */
final class SlidingWindowFragment implements AdmissionFragment {

    /** The moment at which the previous window has faded to the room. The product may not fit into 64 bits. */
    private static final String FADED = """
            excluded.window_start + excluded.window_size
                - CASE WHEN %1$s <= 9223372036854775807 / excluded.window_size
                    THEN (%1$s) * excluded.window_size / %2$s
                    ELSE div((%1$s)::numeric * excluded.window_size, %2$s)::bigint END""";

    private static final String SINCE = """
            CASE
                WHEN state.last_request_at >= excluded.window_start THEN CASE
                    WHEN state.request_count + state.previous_count <= excluded.capacity - excluded.request_count THEN 0
                    WHEN state.request_count > excluded.capacity - excluded.request_count THEN 9223372036854775807
                    ELSE %s END
                WHEN state.last_request_at < excluded.window_start - excluded.window_size THEN 0
                WHEN state.request_count <= excluded.capacity - excluded.request_count THEN 0
                ELSE %s END""".formatted(
            FADED.formatted("excluded.capacity - excluded.request_count - state.request_count", "state.previous_count"),
            FADED.formatted("excluded.capacity - excluded.request_count", "state.request_count"));

    @Override
    public String algorithm() {
        return "sliding-window";
    }

    @Override
    public AdmissionNumbers numbers(Algorithm algorithm, long expected) {
        SlidingWindow window = (SlidingWindow) algorithm;
        return AdmissionNumbers.windows(Micros.of(window.window()));
    }

    @Override
    public List<String> columns() {
        return List.of("request_count", "previous_count");
    }

    @Override
    public List<String> fresh() {
        return List.of("key.take", "0");
    }

    @Override
    public List<String> charged() {
        return List.of("""
                excluded.request_count
                    + CASE WHEN state.last_request_at >= excluded.window_start THEN state.request_count ELSE 0 END""", """
                CASE
                    WHEN state.last_request_at >= excluded.window_start THEN state.previous_count
                    WHEN state.last_request_at >= excluded.window_start - excluded.window_size THEN state.request_count
                    ELSE 0 END""");
    }

    @Override
    public String wholeAt() {
        return "now.start + 2 * now.size";
    }

    @Override
    public String since() {
        return SINCE;
    }

    @Override
    public boolean inWindows() {
        return true;
    }

    @Override
    public Count count(long at, AdmissionNumbers numbers, long[] values) {
        return new Count(numbers.startAt(at), numbers.size(), values[0], values[1], 0, Log.EMPTY);
    }
}
