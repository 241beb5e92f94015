package dev.ratelimit.login.check;

import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.support.LoginName;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers from which addresses a name has logged in. Such an address is not held to the limit by name alone, so that guesses
 * from elsewhere lock nobody out of the usual places.
 *
 * <p>A mark is a used-up limit of one in thirty days. So all instances share it, it expires, and upkeep deletes it.
 */
final class KnownAddresses {

    private static final int MOST_REMEMBERED = 10_000;
    private static final Duration REMEMBERED = Duration.ofHours(1);

    private final RateLimiter limiter;
    private final Limit mark;

    /** Marks that this instance has seen, by the time until which they need not be read again. */
    private final Map<Subject, Long> remembered = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Subject, Long> eldest) {
            return size() > MOST_REMEMBERED;
        }
    });

    /**
     * @param limit the name of the limit that the marks belong to
     */
    KnownAddresses(RateLimiter limiter, String limit) {
        this.limiter = limiter;
        this.mark = Limit.named(LoginName.knownAddressMark(limit))
                .algorithm(Algorithms.burst(1, new Rate(1, Duration.ofDays(30))))
                .build();
    }

    /** Notes a login of a name from an address. */
    void succeeded(Subject together) {
        if (!isRemembered(together)) {
            remember(together);
            limiter.decide(request(together));
        }
    }

    /** Whether this instance knows without asking the store. */
    boolean isRemembered(Subject together) {
        Long until = remembered.get(together);
        return until != null && System.nanoTime() - until < 0;
    }

    boolean contains(Subject together) {
        if (isRemembered(together)) {
            return true;
        }
        boolean marked = !limiter.peek(request(together)).allowed();
        if (marked) {
            remember(together);
        }
        return marked;
    }

    private void remember(Subject together) {
        remembered.put(together, System.nanoTime() + REMEMBERED.toNanos());
    }

    /** While the store is unavailable, only the marks that are remembered count. */
    private LimitRequest request(Subject together) {
        return LimitRequest.of(together, mark).onFailure(FailurePolicy.OPEN).recordedByCaller();
    }
}
