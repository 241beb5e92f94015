package dev.ratelimit.test.assertion;

import dev.ratelimit.setting.Durations;
import java.time.Duration;
import java.util.function.Supplier;
import org.assertj.core.api.AbstractAssert;

/** Assertions about a request that is made anew for each of them: see {@link RateLimitAssertions}. */
public final class RateLimitRequestAssert extends AbstractAssert<RateLimitRequestAssert, Supplier<LimitedResponse>> {

    RateLimitRequestAssert(Supplier<LimitedResponse> actual) {
        super(actual, RateLimitRequestAssert.class);
    }

    /**
     * Makes so many requests and one more. Verifies that this last one is a 429, and none before. The others may have any
     * other answer: a login that fails counts as well.
     */
    public RateLimitRequestAssert isLimitedAfter(int requests) {
        String expected = "expected to be limited after " + Durations.count(requests, "request");
        pass(requests, expected);
        LimitedResponse last = actual.get();
        if (!last.isLimited()) {
            throw failure("%s, but request %d was answered %s%s", expected, requests + 1, last, last.hint());
        }
        return this;
    }

    /** Makes so many requests, and verifies that none of them is limited. */
    public RateLimitRequestAssert isNotLimitedFor(int requests) {
        pass(requests, "expected not to be limited for " + Durations.count(requests, "request"));
        return this;
    }

    private void pass(int requests, String expected) {
        if (requests < 0) {
            throw new IllegalArgumentException("The number of requests is " + requests + "; write zero or more");
        }
        for (int number = 1; number <= requests; number++) {
            LimitedResponse response = actual.get();
            if (response.isLimited()) {
                throw failure("%s, but request %d was answered %s", expected, number, response);
            }
            if (response.isUnavailable()) {
                throw failure("%s, but request %d was answered %s%s", expected, number, response, response.hint());
            }
        }
    }

    /** Makes one request: see {@link RateLimitResponseAssert#isLimited()}. */
    public RateLimitResponseAssert isLimited() {
        return response().isLimited();
    }

    /** Makes one request: see {@link RateLimitResponseAssert#isLimitedBy}. */
    public RateLimitResponseAssert isLimitedBy(String limit) {
        return response().isLimitedBy(limit);
    }

    /** Makes one request: see {@link RateLimitResponseAssert#isNotLimited()}. */
    public RateLimitResponseAssert isNotLimited() {
        return response().isNotLimited();
    }

    /** Makes one request: see {@link RateLimitResponseAssert#hasRemaining}. */
    public RateLimitResponseAssert hasRemaining(long requests) {
        return response().hasRemaining(requests);
    }

    /** Makes one request: see {@link RateLimitResponseAssert#hasRetryAfter(Duration)}. */
    public RateLimitResponseAssert hasRetryAfter(Duration time) {
        return response().hasRetryAfter(time);
    }

    /** Makes one request: see {@link RateLimitResponseAssert#hasRetryAfter(String)}. */
    public RateLimitResponseAssert hasRetryAfter(String time) {
        return response().hasRetryAfter(time);
    }

    private RateLimitResponseAssert response() {
        return new RateLimitResponseAssert(actual.get());
    }
}
