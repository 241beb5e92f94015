package dev.ratelimit.store.redis;

import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * How the store in Redis works.
 *
 * @param keyPrefix begins all keys; give each application its own if several share a server
 * @param deadline the longest time that a group of decisions takes
 * @param acknowledge who must have a decision before it is answered
 * @param clock the time, for tests; {@code null} for the clock of the server
 */
public record RedisOptions(
        String keyPrefix,
        Duration deadline,
        Acknowledge acknowledge,
        @Nullable InstantSource clock) {

    public static final String DEFAULT_KEY_PREFIX = "rl:";

    public static final RedisOptions DEFAULT =
            new RedisOptions(DEFAULT_KEY_PREFIX, Duration.ofSeconds(1), Acknowledge.MASTER, null);

    public RedisOptions {
        if (keyPrefix.isEmpty() || keyPrefix.length() > 100 || keyPrefix.contains("{") || keyPrefix.contains("}")) {
            throw new IllegalArgumentException(
                    "key-prefix is '" + keyPrefix + "'; write 1 to 100 characters without braces, such as rl:");
        }
        if (deadline.isZero() || deadline.isNegative()) {
            throw new IllegalArgumentException("deadline is " + deadline + "; write a positive time, such as 100ms");
        }
    }

    public RedisOptions withKeyPrefix(String prefix) {
        return new RedisOptions(prefix, deadline, acknowledge, clock);
    }

    public RedisOptions withDeadline(Duration time) {
        return new RedisOptions(keyPrefix, time, acknowledge, clock);
    }

    public RedisOptions withAcknowledge(Acknowledge by) {
        return new RedisOptions(keyPrefix, deadline, by, clock);
    }

    public RedisOptions withClock(@Nullable InstantSource time) {
        return new RedisOptions(keyPrefix, deadline, acknowledge, time);
    }
}
