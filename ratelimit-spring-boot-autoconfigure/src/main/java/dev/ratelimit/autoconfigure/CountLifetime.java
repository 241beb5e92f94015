package dev.ratelimit.autoconfigure;

import dev.ratelimit.Limit;
import dev.ratelimit.Penalties;
import dev.ratelimit.algorithm.Check;
import dev.ratelimit.algorithm.State;
import dev.ratelimit.policy.LimitBook;
import dev.ratelimit.support.Micros;
import java.time.Duration;
import java.util.Collections;
import java.util.List;

/** How long a count can matter: after that time, a store that was left knows nothing that another one should know. */
final class CountLifetime {

    private CountLifetime() {}

    /** The longest time of all limits, in all tiers. */
    static Duration longest(LimitBook limits) {
        Duration longest = Duration.ZERO;
        for (String name : limits.names()) {
            longest = longer(longest, of(limits.get(name)));
            for (String tier : limits.tiers()) {
                longest = longer(longest, of(limits.get(name, tier)));
            }
        }
        return longest;
    }

    private static Duration of(Limit limit) {
        long expiry =
                Check.of(limit, State.FRESH, 0, limit.capacity()).charged().expiresAt();
        Duration counted = longer(limit.algorithm().window(), Micros.toDuration(expiry));
        return Collections.max(List.of(counted, limit.minInterval(), penalty(limit.penalties())));
    }

    /** The longest block that has an end. */
    private static Duration penalty(Penalties penalties) {
        Duration longest = Duration.ZERO;
        for (Penalties.Step step : penalties.steps()) {
            if (!step.block().equals(Penalties.FOREVER)) {
                longest = longer(longest, step.block());
            }
        }
        return longest;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }
}
