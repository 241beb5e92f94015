package dev.ratelimit.login.check;

import dev.ratelimit.Decision;
import dev.ratelimit.FailurePolicy;
import dev.ratelimit.Limit;
import dev.ratelimit.LimitRequest;
import dev.ratelimit.Rate;
import dev.ratelimit.RateLimiter;
import dev.ratelimit.Subject;
import dev.ratelimit.algorithm.Algorithms;
import dev.ratelimit.support.LoginName;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Remembers from which addresses a name has logged in. Such an address is not held to the limit by name alone, so that guesses
 * from elsewhere lock nobody out of the usual places.
 *
 * <p>A mark is a token bucket that gains one token a day. A login empties it. Until it is full again, the address is known: for 30
 * days after the last login, and at most one day more. So all instances share marks, each login renews them, they expire, and upkeep
 * deletes them.
 */
final class KnownAddresses {

    private static final int MOST_REMEMBERED = 10_000;
    private static final Duration REMEMBERED = Duration.ofHours(1);

    /** One more than an address is known for: a login takes whole tokens only, and may leave a part of one. */
    private static final int DAYS = 30 + 1;

    private final RateLimiter limiter;
    private final Limit mark;
    private final LongSupplier micros;

    /** Marks that this instance has seen. */
    private final Map<Subject, Seen> remembered = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Subject, Seen> eldest) {
            return size() > MOST_REMEMBERED;
        }
    });

    /**
     * A mark that was seen.
     *
     * @param until it need not be read again before
     * @param renewed whether a login has renewed it since it was read
     */
    private record Seen(long until, boolean renewed) {}

    /**
     * @param limit the name of the limit that the marks belong to
     * @param clock the clock, or {@code null} for that of the machine
     */
    KnownAddresses(RateLimiter limiter, String limit, @Nullable InstantSource clock) {
        this.limiter = limiter;
        this.mark = Limit.named(LoginName.knownAddressMark(limit))
                .algorithm(Algorithms.burst(DAYS, new Rate(1, Duration.ofDays(1))))
                .build();
        this.micros = clock == null
                ? () -> TimeUnit.NANOSECONDS.toMicros(System.nanoTime())
                : () -> Micros.of(clock.instant());
    }

    /** Notes a login of a name from an address. */
    void succeeded(Subject together) {
        Seen seen = seen(together);
        if (seen != null && seen.renewed()) {
            return;
        }
        Decision look = limiter.peek(request(together));
        boolean decided = look.outcome().isDecided();
        remember(together, decided);
        if (decided && look.remaining() > 0) {
            limiter.decide(request(together).cost(look.remaining()));
        }
    }

    /** Whether this instance knows without asking the store. */
    boolean isRemembered(Subject together) {
        return seen(together) != null;
    }

    private @Nullable Seen seen(Subject together) {
        Seen seen = remembered.get(together);
        return seen != null && micros.getAsLong() - seen.until() < 0 ? seen : null;
    }

    boolean contains(Subject together) {
        if (isRemembered(together)) {
            return true;
        }
        Decision look = limiter.peek(request(together));
        boolean marked = look.outcome().isDecided() && look.remaining() < DAYS;
        if (marked) {
            remember(together, false);
        }
        return marked;
    }

    private void remember(Subject together, boolean renewed) {
        remembered.put(together, new Seen(micros.getAsLong() + Micros.of(REMEMBERED), renewed));
    }

    void forget() {
        remembered.clear();
    }

    /** While the store is unavailable, only the marks that are remembered count. */
    private LimitRequest request(Subject together) {
        return LimitRequest.of(together, mark).onFailure(FailurePolicy.OPEN).recordedByCaller();
    }
}
