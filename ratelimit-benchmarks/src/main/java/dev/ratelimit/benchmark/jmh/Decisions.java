package dev.ratelimit.benchmark.jmh;

import dev.ratelimit.Decision;
import dev.ratelimit.Lease;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Limits;
import dev.ratelimit.Rate;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.algorithm.FixedWindow;
import dev.ratelimit.algorithm.LeakyBucket;
import dev.ratelimit.algorithm.SlidingLog;
import dev.ratelimit.algorithm.SlidingWindow;
import dev.ratelimit.algorithm.TokenBucket;
import dev.ratelimit.engine.StoreRateLimiter;
import dev.ratelimit.store.MemoryLimitStore;
import dev.ratelimit.web.RateLimitHeaders;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** What a decision costs in process: the step of each algorithm, the paths that need no store, keys and headers. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Decisions {

    private static final long NOW = 1_700_000_000_000_000L;

    private final Limit tokenBucket = Limit.named("bucket")
            .algorithm(new TokenBucket(1000, Rate.perSecond(10)))
            .build();
    private final Limit leakyBucket = Limit.named("leaky")
            .algorithm(new LeakyBucket(1000, Rate.perSecond(10)))
            .build();
    private final Limit fixedWindow = Limit.named("fixed")
            .algorithm(new FixedWindow(1000, Duration.ofMinutes(1)))
            .build();
    private final Limit slidingWindow = Limit.named("sliding")
            .algorithm(new SlidingWindow(1000, Duration.ofMinutes(1)))
            .build();
    private final Limit slidingLog = Limit.named("log")
            .algorithm(new SlidingLog(1000, Duration.ofMinutes(1)))
            .build();
    private final Limit plenty = Limit.named("plenty")
            .algorithm(new FixedWindow(1_000_000_000_000L, Duration.ofDays(365)))
            .build();
    private final Limit leased = Limit.named("leased")
            .algorithm(new FixedWindow(1_000_000_000_000L, Duration.ofDays(365)))
            .lease(new Lease(100_000))
            .build();
    private final Limit usedUp = Limit.named("used-up")
            .algorithm(new FixedWindow(1, Duration.ofDays(365)))
            .build();

    private final dev.ratelimit.algorithm.State bucketState = charged(tokenBucket, 1);
    private final dev.ratelimit.algorithm.State leakyState = charged(leakyBucket, 1);
    private final dev.ratelimit.algorithm.State fixedState = charged(fixedWindow, 1);
    private final dev.ratelimit.algorithm.State slidingState = charged(slidingWindow, 1);
    private final dev.ratelimit.algorithm.State logState = charged(slidingLog, 100);

    private final Subject subject = Subject.user("alice");
    private final StoreRateLimiter limiter = StoreRateLimiter.builder(
                    new MemoryLimitStore(), Limits.of(plenty, leased, usedUp))
            .build();
    private final RateLimitHeaders headers = new RateLimitHeaders(true, true);
    private final Decision decision = limiter.decide(subject, plenty);

    private static dev.ratelimit.algorithm.State charged(Limit limit, long cost) {
        return Check.of(limit, dev.ratelimit.algorithm.State.FRESH, NOW, cost).charged();
    }

    @TearDown
    public void close() {
        limiter.close();
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
        return limiter.decide(subject, leased);
    }

    @Benchmark
    public Object decideDenied() {
        return limiter.decide(subject, usedUp);
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
        headers.write(new MockHttpServletRequest(), response, decision);
        return response;
    }
}
