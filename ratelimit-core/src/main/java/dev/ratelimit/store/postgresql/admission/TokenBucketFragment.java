package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.Algorithm;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.support.Micros;
import java.util.List;

/** A full bucket holds {@code capacity * size} units. The excluded row lacks the units that are taken. */
final class TokenBucketFragment implements AdmissionFragment {

    @Override
    public String algorithm() {
        return "token-bucket";
    }

    @Override
    public AdmissionNumbers numbers(Algorithm algorithm, long expected) {
        TokenBucket bucket = (TokenBucket) algorithm;
        return AdmissionNumbers.bucket(
                Micros.of(bucket.refill().per()), bucket.refill().permits(), 0);
    }

    @Override
    public List<String> columns() {
        return List.of("tokens");
    }

    @Override
    public List<String> fresh() {
        return List.of("(key.capacity - key.take) * key.size");
    }

    /** The time is cut to what fills the bucket: so nothing overflows. */
    @Override
    public List<String> charged() {
        return List.of("""
                excluded.tokens - now.capacity * now.size + least(now.capacity * now.size, state.tokens
                    + least(now.clock - state.last_request_at, (now.capacity * now.size - state.tokens) / now.rate + 1)
                    * now.rate)""");
    }

    @Override
    public String wholeAt() {
        return "now.clock + (now.capacity * now.size - now.tokens + now.rate - 1) / now.rate";
    }

    @Override
    public String since() {
        return """
                CASE WHEN state.tokens + excluded.tokens < excluded.capacity * excluded.window_size
                    THEN state.last_request_at + 1
                        + (excluded.capacity * excluded.window_size - excluded.tokens - state.tokens - 1) / {rate}
                    ELSE 0 END""";
    }

    @Override
    public boolean inWindows() {
        return false;
    }

    @Override
    public Count count(long at, AdmissionNumbers numbers, long[] values) {
        return new Count(at, numbers.size(), 0, 0, values[0], Log.EMPTY);
    }
}
