package dev.ratelimit.test.assertion;

import dev.ratelimit.setting.Durations;
import dev.ratelimit.support.Seconds;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.AbstractAssert;

/** Assertions about one response: see {@link RateLimitAssertions}. */
public final class RateLimitResponseAssert extends AbstractAssert<RateLimitResponseAssert, LimitedResponse> {

    RateLimitResponseAssert(LimitedResponse actual) {
        super(actual, RateLimitResponseAssert.class);
    }

    /** Verifies that the response is a 429. */
    public RateLimitResponseAssert isLimited() {
        if (!actual.isLimited()) {
            throw failure("expected to be limited, but was answered %s%s", actual, actual.hint());
        }
        return this;
    }

    /** Verifies that the response is a 429 of that limit. */
    public RateLimitResponseAssert isLimitedBy(String limit) {
        isLimited();
        String by = actual.deniedBy();
        if (by == null || !List.of(by.split(", ")).contains(limit)) {
            throw failure("expected to be limited by '%s', but was answered %s", limit, actual);
        }
        return this;
    }

    /** Verifies that the response is not a 429. */
    public RateLimitResponseAssert isNotLimited() {
        if (actual.isLimited()) {
            throw failure("expected not to be limited, but was answered %s", actual);
        }
        return this;
    }

    /** Verifies how many requests remain to the caller. */
    public RateLimitResponseAssert hasRemaining(long requests) {
        Long remaining = actual.remaining();
        if (remaining == null) {
            throw failure("expected %d remaining requests, but was answered %s%s", requests, actual, actual.hint());
        }
        if (remaining != requests) {
            throw failure("expected %d remaining requests, but %d remain", requests, remaining);
        }
        return this;
    }

    /** Verifies the header {@code Retry-After}, which is in whole seconds, rounded up. */
    public RateLimitResponseAssert hasRetryAfter(Duration time) {
        Long seconds = actual.retryAfterSeconds();
        if (seconds == null) {
            throw failure(
                    "expected Retry-After to be %s, but was answered %s without that header",
                    Durations.text(time), actual.status());
        }
        if (seconds != Seconds.roundedUp(time)) {
            throw failure(
                    "expected Retry-After to be %s, but it is %s",
                    Durations.text(time), Durations.text(Duration.ofSeconds(seconds)));
        }
        return this;
    }

    /**
     * Verifies the header {@code Retry-After}.
     *
     * @param time as in the configuration, such as {@code 42s}
     */
    public RateLimitResponseAssert hasRetryAfter(String time) {
        return hasRetryAfter(Durations.parse(time));
    }
}
