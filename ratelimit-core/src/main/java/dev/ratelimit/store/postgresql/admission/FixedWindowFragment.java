package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.Algorithm;
import dev.ratelimit.Window;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.support.Micros;
import java.util.List;

/**
 * The fragment of fixed windows. For windows of the calendar it covers only the one in which the statement is expected
 * to run.
 */
final class FixedWindowFragment implements AdmissionFragment {

    @Override
    public String algorithm() {
        return "fixed-window";
    }

    @Override
    public AdmissionNumbers numbers(Algorithm algorithm, long expected) {
        FixedWindow window = (FixedWindow) algorithm;
        return window.alignment() instanceof Window.Calendar
                ? AdmissionNumbers.window(window.startAt(expected), window.endAt(expected))
                : AdmissionNumbers.windows(Micros.of(window.window()));
    }

    @Override
    public List<String> columns() {
        return List.of("request_count");
    }

    @Override
    public List<String> fresh() {
        return List.of("key.take");
    }

    @Override
    public List<String> charged() {
        return List.of("""
                excluded.request_count
                    + CASE WHEN state.last_request_at >= excluded.window_start THEN state.request_count ELSE 0 END""");
    }

    @Override
    public String wholeAt() {
        return "now.start + now.size";
    }

    @Override
    public String since() {
        return """
                CASE WHEN state.last_request_at >= excluded.window_start
                        AND state.request_count > excluded.capacity - excluded.request_count
                    THEN 9223372036854775807 ELSE excluded.window_start END""";
    }

    @Override
    public boolean inWindows() {
        return true;
    }

    @Override
    public Count count(long at, AdmissionNumbers numbers, long[] values) {
        return new Count(numbers.startAt(at), numbers.size(), values[0], 0, 0, Log.EMPTY);
    }
}
