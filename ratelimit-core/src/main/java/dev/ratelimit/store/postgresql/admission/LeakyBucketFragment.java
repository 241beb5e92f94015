package dev.ratelimit.store.postgresql.admission;

import dev.ratelimit.Algorithm;
import dev.ratelimit.algorithm.Count;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.Log;
import dev.ratelimit.support.Micros;
import java.util.List;

/** The token bucket upside down: the excluded row holds the water that is poured in. */
final class LeakyBucketFragment implements AdmissionFragment {

    @Override
    public String algorithm() {
        return "leaky-bucket";
    }

    @Override
    public AdmissionNumbers numbers(Algorithm algorithm, long expected) {
        LeakyBucket bucket = (LeakyBucket) algorithm;
        long unitsPerPermit = Micros.of(bucket.drain().per());
        // The last of several requests finds all before it but itself, which is one permit at least. So a request of
        // many
        // permits may be left to the Java path although it has room.
        long most = Math.min(bucket.capacity() * unitsPerPermit, bucket.mostAhead() + unitsPerPermit);
        return AdmissionNumbers.bucket(unitsPerPermit, bucket.drain().permits(), most);
    }

    @Override
    public List<String> columns() {
        return List.of("tokens");
    }

    @Override
    public List<String> fresh() {
        return List.of("key.take * key.size");
    }

    @Override
    public List<String> charged() {
        return List.of("""
                excluded.tokens + greatest(0, state.tokens
                    - least(now.clock - state.last_request_at, state.tokens / now.rate + 1) * now.rate)""");
    }

    @Override
    public String wholeAt() {
        return "now.clock + (now.tokens + now.rate - 1) / now.rate";
    }

    @Override
    public String since() {
        return """
                CASE WHEN state.tokens + excluded.tokens > {most}
                    THEN state.last_request_at + 1 + (state.tokens + excluded.tokens - {most} - 1) / {rate}
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
