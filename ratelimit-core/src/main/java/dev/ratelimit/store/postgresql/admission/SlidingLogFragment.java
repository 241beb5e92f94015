package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.Algorithm;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.support.Micros;
import java.util.List;

/** Eight bytes for each request of the window. The oldest that must have left it makes room. */
final class SlidingLogFragment implements AdmissionFragment {

    /** Copies of the moment. */
    private static final String COPIES = "decode(repeat(encode(int8send(%s), 'hex'), (%s)::int), 'hex')";

    /**
     * The log without the moments that have left the window. It is read from the beginning, as far as there are such; each
     * is dropped once. The empty bytes make it a value in memory, so that a long log is fetched once.
     */
    private static final String KEPT = """
            CASE WHEN substring(state.log FROM 1 FOR 8) <= int8send(now.clock - now.size)
                THEN (
                    SELECT substring(whole.log FROM 1 + 8 * coalesce((
                        SELECT entry.number
                        FROM (SELECT generate_series(0, length(whole.log) / 8 - 1) AS number) entry
                        WHERE substring(whole.log FROM 1 + 8 * entry.number FOR 8) > int8send(now.clock - now.size)
                        LIMIT 1), length(whole.log) / 8))
                    FROM (SELECT state.log || '' AS log OFFSET 0) whole)
                ELSE coalesce(state.log, '') END""";

    @Override
    public String algorithm() {
        return "sliding-log";
    }

    @Override
    public AdmissionNumbers numbers(Algorithm algorithm, long expected) {
        SlidingLog log = (SlidingLog) algorithm;
        return AdmissionNumbers.windows(Micros.of(log.window()));
    }

    @Override
    public List<String> columns() {
        return List.of("log");
    }

    @Override
    public List<String> fresh() {
        return List.of(COPIES.formatted("key.clock", "key.take"));
    }

    @Override
    public List<String> charged() {
        return List.of(KEPT + " || " + COPIES.formatted("now.clock", "length(excluded.log) / 8"));
    }

    @Override
    public String wholeAt() {
        return "now.clock + now.size";
    }

    @Override
    public String since() {
        return """
                CASE WHEN length(state.log) + length(excluded.log) > excluded.capacity * 8
                    THEN excluded.window_size + ('x' || encode(substring(state.log
                        FROM (length(state.log) + length(excluded.log) - excluded.capacity * 8 - 7)::int FOR 8),
                        'hex'))::bit(64)::bigint
                    ELSE 0 END""";
    }

    @Override
    public boolean inWindows() {
        return false;
    }

    @Override
    public List<String> returned() {
        return List.of("length(state.log) / 8");
    }

    @Override
    public Count count(long at, AdmissionNumbers numbers, long[] values) {
        return new Count(at, numbers.size(), 0, 0, 0, Log.of(at, (int) values[0]));
    }

    /** The moments of the earlier requests are not returned. */
    @Override
    public boolean countIsComplete() {
        return false;
    }
}
