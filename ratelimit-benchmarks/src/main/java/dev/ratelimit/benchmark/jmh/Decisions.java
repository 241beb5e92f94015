package dev.ratelimit.benchmark.jmh;

import dev.ratelimit.Decision;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.benchmark.peer.Stores;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.ForwardingLimitStore;
import dev.ratelimit.web.RateLimitHeaders;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.springframework.mock.web.MockHttpServletResponse;

/** The cost of a decision in process: the step of each algorithm, the paths that need no store, keys and headers. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Decisions {

    private static final long NOW = 1_700_000_000_000_000L;

    private final Limit tokenBucket = limit("bucket", "algorithm", "token-bucket", "burst", "1000", "refill", "10/s");
    private final Limit leakyBucket = limit("leaky", "algorithm", "leaky-bucket", "capacity", "1000", "drain", "10/s");
    private final Limit fixedWindow =
            limit("fixed", "algorithm", "fixed-window", "max-requests", "1000", "window", "1m");
    private final Limit slidingWindow =
            limit("sliding", "algorithm", "sliding-window", "max-requests", "1000", "window", "1m");
    private final Limit slidingLog = limit("log", "algorithm", "sliding-log", "max-requests", "1000", "window", "1m");
    private final Limit plenty =
            limit("plenty", "algorithm", "fixed-window", "max-requests", "1000000000000", "window", "365d");
    private final Limit leased = limit(
            "leased",
            "algorithm",
            "fixed-window",
            "max-requests",
            "1000000000000",
            "window",
            "365d",
            "lease",
            "100000");
    private final Limit usedUp = limit("used-up", "algorithm", "fixed-window", "max-requests", "1", "window", "365d");

    private final dev.ratelimit.algorithm.State bucketState = charged(tokenBucket, 1);
    private final dev.ratelimit.algorithm.State leakyState = charged(leakyBucket, 1);
    private final dev.ratelimit.algorithm.State fixedState = charged(fixedWindow, 1);
    private final dev.ratelimit.algorithm.State slidingState = charged(slidingWindow, 1);
    private final dev.ratelimit.algorithm.State logState = charged(slidingLog, 100);

    private final Subject subject = Subject.user("alice");
    private final StoreRateLimiter limiter = Stores.limiter(Stores.memory(), 1);

    /** Remembers denials and leases, which a limiter over the memory store does not. */
    private final StoreRateLimiter remembering = Stores.limiter(new ForwardingLimitStore(Stores.memory()) {}, 1);

    private final RateLimitHeaders headers = new RateLimitHeaders(true, true);
    private final Decision decision = limiter.decide(subject, plenty);

    /** In the words of the configuration: names and values in turn. */
    private static Limit limit(String name, String... properties) {
        Map<String, String> all = new HashMap<>();
        for (int i = 0; i < properties.length; i += 2) {
            all.put(properties[i], properties[i + 1]);
        }
        return Algorithms.limit(name, all);
    }

    private static dev.ratelimit.algorithm.State charged(Limit limit, long cost) {
        return Check.of(limit, dev.ratelimit.algorithm.State.FRESH, NOW, cost).charged();
    }

    @TearDown
    public void close() {
        limiter.close();
        remembering.close();
    }

    private static dev.ratelimit.algorithm.State step(Limit limit, dev.ratelimit.algorithm.State state) {
        return Check.of(limit, state, NOW + 1_000, 1).charged();
    }

    @Benchmark
    public Object stepTokenBucket() {
        return step(tokenBucket, bucketState);
    }

    @Benchmark
    public Object stepLeakyBucket() {
        return step(leakyBucket, leakyState);
    }

    @Benchmark
    public Object stepFixedWindow() {
        return step(fixedWindow, fixedState);
    }

    @Benchmark
    public Object stepSlidingWindow() {
        return step(slidingWindow, slidingState);
    }

    @Benchmark
    public Object stepSlidingLogOf100() {
        return step(slidingLog, logState);
    }

    @Benchmark
    public Object decideInMemory() {
        return limiter.decide(subject, plenty);
    }

    @Benchmark
    public Object decideLeased() {
        return remembering.decide(subject, leased);
    }

    @Benchmark
    public Object decideDenied() {
        return remembering.decide(subject, usedUp);
    }

    @Benchmark
    public long readClock() {
        return System.nanoTime();
    }

    @Benchmark
    public Object buildRequest() {
        return LimitRequest.of(subject, usedUp);
    }

    @Benchmark
    public Object buildKey() {
        return Subject.user("alice").and("ip", "203.0.113.7");
    }

    @Benchmark
    public Object writeHeaders() {
        MockHttpServletResponse response = new MockHttpServletResponse();
        headers.write(List.of(decision), response::setHeader);
        return response;
    }
}
